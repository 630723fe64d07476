import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { ForgeEvent } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Statement } from '../query.ts'
import { asWritten, defineQuery, takesLock } from '../query.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { defer, query, queryEach, queryFirst } from '../session.ts'
import type { PlacedEvent } from './event-log.ts'
import { outboxPlace, selectEvents, toEvent } from './event-log.ts'
import { cursorOf, noCursor, placeOf } from './pages.ts'

/** What the outbox is built from. */
export interface OutboxParts<Tx> {
  readonly context: SqlContext
  readonly runtime: SqlRuntime<Tx>
  readonly row: OutboxRow
  readonly numbering: Numbering<Tx>
}

/** The input of a read of the outbox. */
export interface OutboxQuery {
  readonly after: string | undefined
  readonly limit: number
}

/** The result of a read of the outbox. */
export interface OutboxPage {
  readonly events: readonly ForgeEvent[]
  readonly cursor: string
}

/** Reads committed events in order. */
export class Outbox<Tx> {
  readonly #runtime: SqlRuntime<Tx>
  readonly #row: OutboxRow
  readonly #numbering: Numbering<Tx>
  readonly #after: Query<{ readonly after: number; readonly limit: number }, PlacedEvent>

  constructor({ context, runtime, row, numbering }: OutboxParts<Tx>) {
    this.#runtime = runtime
    this.#row = row
    this.#numbering = numbering
    this.#after = afterQuery(context)
  }

  /**
   * Reads one page. @throws ForgeError `INVALID_INPUT` if the cursor is invalid; `EVENTS_PRUNED` if it is below the
   * floor
   */
  *read({ after, limit }: OutboxQuery): SyncOrAsync<OutboxPage> {
    const start = after === undefined ? undefined : placeInOutbox(after)
    const isNumbered = yield* this.#numbering.step()
    const page = yield* this.#read(start, limit)
    if (isNumbered || page.events.length > 0) return page

    // Another transaction is numbering. An empty page would hide committed events, and a consumer would sleep on it.
    yield* this.#waitForNumbering()
    return yield* this.#read(start, limit)
  }

  *#waitForNumbering(): SyncOrAsync<void> {
    try {
      yield* this.#numbering.waitAndStep()
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY')) throw error // an empty page is a better answer
    }
  }

  *#read(start: number | undefined, limit: number): SyncOrAsync<OutboxPage> {
    return yield* wait(this.#runtime.readSnapshot((session) => this.#page(session, start, limit), undefined))
  }

  /** The floor and the events come from one snapshot: nothing is removed between the two reads. */
  *#page(session: Session, start: number | undefined, limit: number): SyncOrAsync<OutboxPage> {
    if (start === undefined) {
      const { floor } = yield* this.#row.read(session)
      return toPage(yield* query(session, this.#after({ after: floor, limit })), floor)
    }

    const { state, rows } = yield* this.#row.readThen(session, this.#after({ after: start, limit }))
    if (start < state.floor) throw pruned(state.floor)
    return toPage(rows, start)
  }
}

function toPage(rows: readonly PlacedEvent[], after: number): OutboxPage {
  return { events: rows.map(({ place: _, ...row }) => toEvent(row)), cursor: cursorOf(rows.at(-1)?.place ?? after) }
}

/**
 * Returns the place that a cursor of the outbox names. Places of the outbox count upwards from zero; those of the audit
 * view are negative.
 */
export function placeInOutbox(cursor: string): number {
  const place = placeOf(cursor)
  if (place < 0) throw noCursor()
  return place
}

function pruned(place: number): ForgeError<'EVENTS_PRUNED'> {
  const floor = cursorOf(place)
  return new ForgeError(
    'EVENTS_PRUNED',
    'events after this cursor have been pruned: continue from the cursor in details.oldest',
    { oldest: floor },
  )
}

function afterQuery(context: SqlContext): Query<{ readonly after: number; readonly limit: number }, PlacedEvent> {
  const place = outboxPlace(context)
  return defineQuery((given) =>
    selectEvents(context)
      .select(context.dialect.number(place).as('place'))
      .where(place, '>', given('after'))
      .orderBy(place)
      .limit(given('limit')),
  )
}

/** How far the outbox is numbered, and where it begins. */
export interface OutboxState {
  /** The last assigned position; 0 if ids are the positions. */
  readonly last: number
  /** The place of the last removed event: reading begins after it. */
  readonly floor: number
}

type Nothing = Record<never, never>

/** The single row of the outbox. Numbering events and moving the floor lock it. */
export class OutboxRow {
  readonly #find: Query<Nothing, OutboxState>
  readonly #findUnlocked: Query<Nothing, OutboxState>
  readonly #lock: Query<Nothing, unknown>
  readonly #save: Query<OutboxState, unknown>

  constructor(context: SqlContext) {
    this.#find = findQuery(context)
    this.#findUnlocked = findUnlockedQuery(context)
    this.#lock = takesLock(lockQuery(context))
    this.#save = saveQuery(context)
  }

  /** Reads the row. @throws ForgeError `STORAGE_UNAVAILABLE` if the row has been removed */
  *read(session: Session): SyncOrAsync<OutboxState> {
    return refuseMissing(yield* queryFirst(session, this.#find({})))
  }

  /** Reads the row, and then runs another query. */
  *readThen<Row>(session: Session, next: Statement<Row>): SyncOrAsync<StateAndRows<Row>> {
    const [[state], rows] = yield* queryEach<[OutboxState, Row]>(session, [this.#find({}), next])
    return { state: refuseMissing(state), rows }
  }

  /** Locks the row until the end of the transaction. */
  *lock(session: Session): SyncOrAsync<OutboxState> {
    yield* defer(session, this.#lock({}))
    return yield* this.read(session)
  }

  /** Same as `lock`, and then runs another query. */
  *lockThen<Row>(session: Session, next: Statement<Row>): SyncOrAsync<StateAndRows<Row>> {
    yield* defer(session, this.#lock({}))
    return yield* this.readThen(session, next)
  }

  /**
   * Locks the row, and then runs another query; or returns undefined immediately if another transaction has locked the
   * row. Only used if ids are not the positions.
   */
  *lockUnlessLockedThen<Row>(session: Session, next: Statement<Row>): SyncOrAsync<StateAndRows<Row> | undefined> {
    const [[state], rows] = yield* queryEach<[OutboxState, Row]>(session, [this.#findUnlocked({}), next])
    return state && { state, rows }
  }

  /** Writes the locked row. */
  *save(session: Session, state: OutboxState): SyncOrAsync<void> {
    yield* defer(session, this.#save(state))
  }
}

/** The row, and the rows of a query that ran after it. */
interface StateAndRows<Row> {
  readonly state: OutboxState
  readonly rows: readonly Row[]
}

function refuseMissing(state: OutboxState | undefined): OutboxState {
  if (state !== undefined) return state
  throw new ForgeError('STORAGE_UNAVAILABLE', 'the outbox has lost its row', { outcome: 'nothing-done' })
}

function stateColumns({ columns }: SqlContext) {
  return [columns.number('last_position').as('last'), columns.number('floor').as('floor')] as const
}

function findQuery(context: SqlContext): Query<Nothing, OutboxState> {
  return defineQuery(() => context.build.selectFrom('outbox').select(stateColumns(context)))
}

function findUnlockedQuery(context: SqlContext): Query<Nothing, OutboxState> {
  const query = context.build.selectFrom('outbox').select(stateColumns(context))
  return asWritten(defineQuery(() => query.forUpdate().skipLocked()))
}

/** Writing a column unchanged locks the row in every database. */
function lockQuery({ build }: SqlContext): Query<Nothing, unknown> {
  return defineQuery(() => build.updateTable('outbox').set((row) => ({ floor: row.ref('floor') })))
}

function saveQuery({ build }: SqlContext): Query<OutboxState, unknown> {
  return defineQuery((given) =>
    build.updateTable('outbox').set({ last_position: given('last'), floor: given('floor') }),
  )
}

/** The maximum number of events numbered in one transaction. */
const MAX_NUMBERED_EVENTS = 1000

interface Numbered {
  readonly ids: readonly Id[]
  readonly last: number
}

/**
 * Locks the row of the outbox, and then runs a query. Returns undefined if another transaction has the lock and this one
 * does not wait.
 */
type RowLock = <Row>(session: Session, next: Statement<Row>) => SyncOrAsync<StateAndRows<Row> | undefined>

/**
 * Assigns positions to committed events if ids are not in order of commit. All events of a transaction become visible
 * together with it, and one transaction numbers at a time. Positions therefore grow in order of commit, without gaps.
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

  /** Numbers the oldest committed events in its own transaction. Returns false if another transaction is numbering. */
  *step(): SyncOrAsync<boolean> {
    return (yield* this.#run((session, next) => this.#row.lockUnlessLockedThen(session, next))) !== undefined
  }

  /** Numbers the oldest committed events. Waits for another transaction that is numbering. */
  *waitAndStep(): SyncOrAsync<void> {
    yield* this.#run((session, next) => this.#row.lockThen(session, next))
  }

  /** Numbers all events that were committed when it began. Waits for another transaction that is numbering. */
  *catchUp(): SyncOrAsync<void> {
    while ((yield* this.#run((session, next) => this.#row.lockThen(session, next))) === MAX_NUMBERED_EVENTS);
  }

  /** Returns how many events were numbered, or undefined without the lock. */
  *#run(lock: RowLock): SyncOrAsync<number | undefined> {
    const number = this.#number
    if (number === undefined) return 0

    const due = yield* wait(this.#runtime.read((session) => session.all(this.#unnumbered({ limit: 1 })), undefined))
    if (due.length === 0) return 0
    return yield* wait(this.#runtime.write((session) => this.#numberOldest(session, number, lock), {}))
  }

  *#numberOldest(session: Session, number: Query<Numbered, unknown>, lock: RowLock): SyncOrAsync<number | undefined> {
    const locked = yield* lock(session, this.#unnumbered({ limit: MAX_NUMBERED_EVENTS }))
    if (locked === undefined) return undefined

    const { state, rows } = locked
    if (rows.length === 0) return 0
    yield* defer(session, number({ ids: rows.map((row) => row.id), last: state.last }))
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
