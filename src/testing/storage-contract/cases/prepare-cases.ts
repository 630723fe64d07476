import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { MaybePromise } from '../../../index.ts'
import { ForgeError } from '../../../index.ts'
import type { ForgeStorage, Outcome, PinRow } from '../../../storage/storage.ts'
import { everything } from '../samples/aggregates.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, pin, row } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import type { Extras } from '../samples/sample.ts'
import { AUTHOR, NO_SUBJECT } from '../samples/sample.ts'
import { turns } from './gate.ts'
import { atOnce, idsTo, raceCases } from './race.ts'
import type { Outcome as Attempt, StorageCase } from './storage-case.ts'
import { begunCase, hostCase, outcomeOf, refuses, refusing, storageCase } from './storage-case.ts'

const OTHER = { ...BOARD, repositoryId: '11' }
const ERROR = new Error('the host says no')

/** Cases about `prepare`, which looks something up under the lock, before the decision. */
export const prepareCases: readonly StorageCase[] = [
  storageCase('a change decides with what its prepare returned', async (storage) => {
    const { result, events } = await prepared(storage, () => 'looked up')

    assert.equal(result, 'looked up')
    assert.deepEqual(await outbox(storage), events)
  }),

  storageCase('a change writes nothing when prepare throws, and throws the same error', async (storage) => {
    const before = await everything(storage)

    assert.deepEqual(await outcomeOf(() => prepared(storage, refusing(ERROR))), { thrown: ERROR })
    assert.ok('thrown' in (await outcomeOf(() => prepared(storage, () => Promise.reject(ERROR)))))
    assert.deepEqual(await everything(storage), before)
    await prepared(storage, () => 'looked up')
  }),

  storageCase('a change waits for the promise of its prepare, or is a TypeError', async (storage) => {
    const outcome = await outcomeOf(() => prepared(storage, async () => 'later'))

    if ('value' in outcome) assert.equal(outcome.value.result, 'later')
    else assert.ok(outcome.thrown instanceof TypeError)
    assert.equal((await outbox(storage)).length, 'value' in outcome ? 1 : 0)
  }),

  storageCase('a change that is refused or aborted is not prepared', async (storage) => {
    let asked = 0
    const prepare = () => {
      asked += 1
    }
    const signal = AbortSignal.abort(ERROR)
    assert.ok('thrown' in (await outcomeOf(() => prepared(storage, prepare, { signal }))))
    await retire(storage, { thing: 'repository', repositoryId: BOARD.repositoryId })
    await refuses('REPOSITORY_NOT_FOUND', () => prepared(storage, prepare))

    assert.equal(asked, 0)
  }),

  storageCase('every attempt of a change is prepared, and decided with its own answer', async (storage) => {
    let asked = 0
    const shown: number[] = []
    const prepare = () => {
      asked += 1
      return asked
    }
    const beforeCommit = () => {
      shown.push(asked)
      if (shown.length === 1) throw new ForgeError('STORAGE_BUSY', 'once more', { retry: 'call' })
    }
    const outcome = await outcomeOf(() => prepared(storage, prepare, { beforeCommit }))

    assert.deepEqual(shown, 'value' in outcome ? [1, 2] : [1])
    if ('value' in outcome) assert.equal(outcome.value.result, 2)
  }),

  storageCase('a change calls its host in the asynchronous context of its caller', async (storage) => {
    const context = new AsyncLocalStorage<string>()
    const called = new Set<string>()
    const calls = (caller: string, name: string): void =>
      void called.add(`${name} of ${caller} in ${context.getStore()}`)
    const imported = (caller: string) => {
      const at = (): Date => {
        calls(caller, 'at')
        return new Date()
      }
      const beforeCommit = () => calls(caller, 'beforeCommit')
      return prepared(storage, () => calls(caller, 'prepare'), { by: { actorId: null, at }, beforeCommit })
    }
    await Promise.all(idsTo(6).map((caller) => context.run(caller, () => imported(caller))))
    const own = idsTo(6).flatMap((caller) =>
      ['at', 'beforeCommit', 'prepare'].map((name) => `${name} of ${caller} in ${caller}`),
    )

    assert.deepEqual([...called].sort(), own.sort())
  }),

  storageCase('what prepare reads on its transaction is what the decision sees', (storage) =>
    checkWhatPrepareReads(storage, storage),
  ),

  hostCase(
    'what prepare reads on its transaction is what the decision sees, while another storage writes',
    ['again'],
    async (storage, bench) => checkWhatPrepareReads(storage, await bench.again()),
  ),

  ...raceCases('imports into one repository run one after the other', async (one, other) => {
    const steps: string[] = []
    const work = idsTo(6).map((name) => {
      const prepare = async () => {
        steps.push(name)
        await turns(3)
      }
      const beforeCommit = async () => {
        await turns(3)
        steps.push(name)
      }
      return outcomeOf(() => prepared(Number(name) % 2 === 0 ? one : other, prepare, { beforeCommit }))
    })
    const refused = (await Promise.all(work)).flatMap((outcome) => ('thrown' in outcome ? [outcome.thrown] : []))
    const mixed = steps.filter((name, index) => name !== steps[index % 2 === 0 ? index + 1 : index - 1])

    // A synchronous storage refuses a prepare that waits, every time. Any other makes all imports.
    if (refused.length === 0) assert.deepEqual(mixed, [])
    else assert.equal(refused.filter((error) => error instanceof TypeError).length, work.length)
  }),

  begunCase(
    'a change that fails in prepare in a host’s transaction keeps the rest of it',
    async (storage, { transaction, commit }) => {
      await pin(storage, OTHER, '1', { transaction })
      assert.deepEqual(await outcomeOf(() => prepared(storage, refusing(ERROR), { transaction })), { thrown: ERROR })
      const { result } = await prepared(storage, (open) => open === transaction, { transaction })
      await commit()

      assert.equal(result, true, 'prepare receives the host’s transaction')
      assert.deepEqual(await issuesOn(storage, OTHER), ['1'])
      assert.equal((await outbox(storage)).length, 2)
    },
  ),

  ...(['prepare', 'beforeCommit'] as const).map((name) =>
    begunCase(`a change made by ${name} on its own transaction is a TypeError`, async (storage, begun) => {
      const { transaction, rollback } = begun
      const tried: Promise<Attempt>[] = []
      const pinOn = (open: typeof transaction) =>
        void tried.push(outcomeOf(() => pin(storage, BOARD, '2', { transaction: open })))
      if (name === 'prepare') await prepared(storage, pinOn, { transaction })
      else await pin(storage, BOARD, '1', { transaction, beforeCommit: (_events, open) => pinOn(open) })
      const [outcome] = await Promise.all(tried)
      await rollback()

      assert.ok(outcome !== undefined && 'thrown' in outcome && outcome.thrown instanceof TypeError)
      assert.deepEqual(await issuesOn(storage, BOARD), [])
    }),
  ),
]

/** Imports, and returns what prepare returned. */
async function prepared<Tx, Prepared>(
  storage: ForgeStorage<Tx>,
  prepare: (transaction: Tx) => MaybePromise<Prepared>,
  extras: Extras<Tx> = {},
): Promise<Outcome<Prepared>> {
  const { repositoryId } = BOARD
  const data = { created: 1, updated: 0, comments: 0 }
  return storage.issueImports.update(
    { repositoryId },
    {
      by: AUTHOR,
      ...extras,
      prepare: (_state, transaction) =>
        decideWith(prepare(transaction), (result) => (state) => ({
          state,
          events: [{ ...NO_SUBJECT, type: 'issues.imported', data, repositoryId }],
          result,
        })),
    },
  )
}

async function checkWhatPrepareReads<Tx>(one: ForgeStorage<Tx>, other: ForgeStorage<Tx>): Promise<void> {
  const work = idsTo(20).map((issueId) => pinPrepared(Number(issueId) % 2 === 0 ? one : other, issueId))
  const outcomes = await atOnce(work, 'STORAGE_BUSY')

  assert.notEqual(outcomes.length, 0)
  for (const outcome of outcomes) assert.deepEqual(...outcome.result)
  assert.equal((await issuesOn(one, BOARD)).length, outcomes.length)
}

/** Pins an issue, and returns the board as prepare read it and as the decision saw it. */
async function pinPrepared<Tx>(
  storage: ForgeStorage<Tx>,
  issueId: string,
): Promise<Outcome<readonly [readonly PinRow[], readonly PinRow[]]>> {
  return storage.pinBoards.update(BOARD, {
    by: AUTHOR,
    prepare: (_rows, transaction) =>
      decideWith(storage.pinBoards.load(BOARD, transaction), (prepared) => (rows) => ({
        state: [...rows, row(issueId)],
        events: [],
        result: [structuredClone(prepared), structuredClone(rows)],
      })),
  })
}

/** Returns the decision that follows from what was looked up: at once, or as a promise. */
function decideWith<T, Decide>(found: MaybePromise<T>, decided: (value: T) => Decide): MaybePromise<Decide> {
  return found instanceof Promise ? found.then(decided) : decided(found)
}
