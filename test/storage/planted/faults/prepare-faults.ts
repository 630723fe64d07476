import type { Change } from '../../../../src/storage/contract/stores.ts'
import { turns } from '../../../../src/testing/testing.ts'
import type { SqlFault } from '../sql-fault.ts'
import { plainly } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'
import { inChanges } from '../storage-fault.ts'

/** Prepares in a transaction of its own, and decides in the next. */
export const preparesBeforeItLocks: StorageFault = inChanges(async (store, key, change) => {
  if (change.prepare === undefined) return store.update(key, change)

  const { prepare, decide, ...rest } = change
  const looked = await store.update(key, {
    ...rest,
    beforeCommit: undefined,
    prepare,
    decide: (state, _at, prepared) => ({ state, events: [], result: prepared }),
  })

  await turns(1)
  return store.update(key, { ...rest, decide: (state, at) => decide(state, at, looked.result) })
})

/** Decides with nothing, whatever was prepared. */
export const losesTheAnswer: StorageFault = preparing((change) => ({
  ...change,
  prepare: (state, transaction) => {
    const answer = change.prepare(state, transaction)
    return structuredClone(Object.create(null) as typeof answer) // unknown data: not what was prepared
  },
}))

/** Goes on when prepare fails. */
export const ignoresFailures: StorageFault = preparing((change) => ({
  ...change,
  prepare: (state, transaction) => {
    try {
      return change.prepare(state, transaction)
    } catch {
      return structuredClone(Object.create(null) as ReturnType<typeof change.prepare>) // unknown data: as above
    }
  },
}))

/** Prepares once for all attempts. */
export const preparesOnce: StorageFault = preparing((change) => {
  const answers: ReturnType<typeof change.prepare>[] = []
  return {
    ...change,
    prepare: (state, transaction) => {
      const [answer = change.prepare(state, transaction)] = answers
      answers.push(answer)
      return answer
    },
  }
})

/** Runs the host's code as if it were its own. */
export const lendsNothing: SqlFault = {
  runtime: (runtime) => ({
    ...plainly(runtime),
    write: (work, circumstances) =>
      runtime.write(
        (session, open) =>
          work(
            {
              all: (statement) => session.all(statement),
              first: (statement) => session.first(statement),
              batch: (statements) => session.batch(statements),
              defer: (statement, check) => session.defer(statement, check),
              lend: (hostCode) => hostCode(),
            },
            open,
          ),
        circumstances,
      ),
  }),
}

type PreparedChange<State, Result, Tx, Prepared> = Extract<
  Change<State, Result, Tx, Prepared>,
  { readonly prepare: unknown }
>

function preparing(
  alter: <State, Result, Tx, Prepared>(
    change: PreparedChange<State, Result, Tx, Prepared>,
  ) => PreparedChange<State, Result, Tx, Prepared>,
): StorageFault {
  return inChanges((store, key, change) =>
    change.prepare === undefined ? store.update(key, change) : store.update(key, alter(change)),
  )
}
