import type { Id } from '../../../schema/ids.ts'
import type { Steps } from '../../../schema/steps.ts'
import { wait } from '../../../schema/steps.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery } from '../query.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { ask, tell } from '../session.ts'
import type { SqlContext } from '../sql-context.ts'
import type { OutboxRow, OutboxState } from './outbox-row.ts'

/** Events that are numbered in one transaction, at most. */
const MOST = 1000

interface Numbered {
  readonly ids: readonly Id[]
  readonly last: number
}

/** Locks the row of the outbox; undefined when another has it and is not waited for. */
type RowLock = (session: Session) => Steps<OutboxState | undefined>

/**
 * Gives committed events their positions, where ids are not in order of commit. All of a transaction come into sight
 * together with it, and one transaction numbers at a time: so positions grow in order of commit, without gaps.
 */
export class Numbering<Tx> {
  readonly #runtime: SqlRuntime<Tx>
  readonly #row: OutboxRow
  readonly #unnumbered: Query<{ readonly limit: number }, { readonly id: Id }>
  readonly #number: Query<Numbered, unknown> | undefined

  constructor(context: SqlContext, runtime: SqlRuntime<Tx>, row: OutboxRow) {
    this.#runtime = runtime
    this.#row = row
    this.#unnumbered = unnumberedQuery(context)
    this.#number = numberQuery(context)
  }

  /** Numbers the oldest that are committed, in a transaction of its own. False: another transaction is numbering. */
  *step(): Steps<boolean> {
    return (yield* this.#run((session) => this.#row.lockUnlessLocked(session))) !== undefined
  }

  /** Numbers the oldest that are committed; waits for another transaction that is numbering. */
  *waitAndStep(): Steps<void> {
    yield* this.#run((session) => this.#row.lock(session))
  }

  /** Numbers all that was committed when it began; where another is at it, waits its turn. */
  *catchUp(): Steps<void> {
    while ((yield* this.#run((session) => this.#row.lock(session))) === MOST);
  }

  /** How many were numbered; undefined without the lock. */
  *#run(lock: RowLock): Steps<number | undefined> {
    const number = this.#number
    if (number === undefined) return 0

    const due = yield* wait(this.#runtime.read((session) => ask(session, this.#unnumbered({ limit: 1 })), undefined))
    if (due.length === 0) return 0
    return yield* wait(this.#runtime.write((session) => this.#numberOldest(session, number, lock), {}))
  }

  *#numberOldest(session: Session, number: Query<Numbered, unknown>, lock: RowLock): Steps<number | undefined> {
    const state = yield* lock(session)
    if (state === undefined) return undefined

    const rows = yield* ask(session, this.#unnumbered({ limit: MOST }))
    if (rows.length === 0) return 0
    yield* tell(session, number({ ids: rows.map((row) => row.id), last: state.last }))
    yield* this.#row.save(session, { ...state, last: state.last + rows.length })
    return rows.length
  }
}

function numberQuery({ build, dialect: { numberEvents } }: SqlContext): Query<Numbered, unknown> | undefined {
  if (numberEvents === undefined) return undefined

  return defineQuery((given) =>
    numberEvents(build, { ids: given('ids').as((ids) => JSON.stringify(ids)), last: given('last') }),
  )
}

/** A locking read would wait for every open transaction that has written an event. */
function unnumberedQuery({ build, columns }: SqlContext): Query<{ readonly limit: number }, { readonly id: Id }> {
  return asWritten(
    defineQuery((given) =>
      build
        .selectFrom('events')
        .select(columns.id('events.id').as('id'))
        .where('position', 'is', null)
        .orderBy('events.id')
        .limit(given('limit')),
    ),
  )
}
