import { sql } from 'kysely'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Claim, Consumer } from '../../contract/events.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery, takesLock } from '../query.ts'
import type { Session } from '../session.ts'
import { defer, query, queryFirst } from '../session.ts'
import type { OutboxRow } from './outbox.ts'
import { placeInOutbox } from './outbox.ts'
import { cursorOf } from './pages.ts'

/**
 * The names that consume the outbox, with their cursors and leases. A name's row is locked before it is read. The row
 * of the outbox is locked before a new name is created, so that no name begins below a floor that is being moved. Only
 * the clock of the database decides about leases.
 */
export class Consumers {
  readonly #queries: ConsumerQueries
  readonly #outbox: OutboxRow

  constructor(context: SqlContext, outbox: OutboxRow) {
    this.#queries = consumerQueries(context)
    this.#outbox = outbox
  }

  *claim(session: Session, consumer: Consumer, milliseconds: number): SyncOrAsync<Claim | undefined> {
    const row = (yield* this.#lock(session, consumer.name)) ?? (yield* this.#add(session, consumer.name))
    if (isLeased(row) && row.holder !== consumer.holder) return undefined

    yield* defer(session, this.#queries.lease({ milliseconds, ...consumer }))
    return { cursor: cursorOf(row.position) }
  }

  *advance(session: Session, consumer: Consumer, cursor: string): SyncOrAsync<boolean> {
    const position = placeInOutbox(cursor)
    const row = yield* this.#lock(session, consumer.name)
    if (row === undefined || !isLeased(row) || row.holder !== consumer.holder) return false

    // Never back: pruning reads the cursors without locking them.
    if (position > row.position) yield* defer(session, this.#queries.move({ name: consumer.name, position }))
    return true
  }

  *release(session: Session, consumer: Consumer): SyncOrAsync<void> {
    yield* defer(session, this.#queries.release(consumer))
  }

  *forget(session: Session, name: string): SyncOrAsync<boolean> {
    const gone = yield* query(session, this.#queries.remove({ name }))
    return gone.length > 0
  }

  /** Returns the place that every name has processed, or undefined if no names exist. */
  *behindAll(session: Session): SyncOrAsync<number | undefined> {
    const row = yield* queryFirst(session, this.#queries.slowest({}))
    return row?.position
  }

  *#lock(session: Session, name: string): SyncOrAsync<ConsumerRow | undefined> {
    yield* defer(session, this.#queries.lock({ name }))
    return yield* queryFirst(session, this.#queries.find({ name }))
  }

  *#add(session: Session, name: string): SyncOrAsync<ConsumerRow> {
    const { floor } = yield* this.#outbox.lock(session)
    const added = yield* this.#lock(session, name) // added while we waited for the outbox
    if (added !== undefined) return added

    yield* defer(session, this.#queries.insert({ name, position: floor }))
    return { position: floor, holder: null, until: 0, now: 0 }
  }
}

function isLeased({ holder, until, now }: ConsumerRow): boolean {
  return holder !== null && until > now
}

/** The row of a name, and the current time. Times are milliseconds since 1970, by the database's clock. */
export interface ConsumerRow {
  readonly position: number
  readonly holder: string | null
  readonly until: number
  readonly now: number
}

/** Identifies one consumer. */
export interface ConsumerName {
  readonly name: string
}

/** The statements of the consumers. */
export interface ConsumerQueries {
  /** Locks the row if it exists. */
  readonly lock: Query<ConsumerName, unknown>
  readonly find: Query<ConsumerName, ConsumerRow>
  readonly insert: Query<ConsumerName & { readonly position: number }, unknown>
  readonly lease: Query<Consumer & { readonly milliseconds: number }, unknown>
  readonly move: Query<ConsumerName & { readonly position: number }, unknown>
  readonly release: Query<Consumer, unknown>
  /** Returns the row if it existed. */
  readonly remove: Query<ConsumerName, ConsumerName>
  /** Returns the row that is farthest behind. */
  readonly slowest: Query<Record<never, never>, { readonly position: number }>
}

/** Defines the statements of the consumers. */
function consumerQueries(context: SqlContext): ConsumerQueries {
  return {
    lock: takesLock(lockQuery(context)),
    find: findQuery(context),
    insert: insertQuery(context),
    lease: leaseQuery(context),
    move: moveQuery(context),
    release: releaseQuery(context),
    remove: removeQuery(context),
    slowest: slowestQuery(context),
  }
}

function lockQuery({ build }: SqlContext): ConsumerQueries['lock'] {
  return defineQuery((given) =>
    build
      .updateTable('consumers')
      .set((row) => ({ position: row.ref('position') }))
      .where('name', '=', given('name')),
  )
}

function findQuery({ build, columns, dialect }: SqlContext): ConsumerQueries['find'] {
  return defineQuery((given) =>
    build
      .selectFrom('consumers')
      .select([columns.number('position').as('position'), 'holder', columns.number('until').as('until')])
      .select(dialect.number(dialect.now).as('now'))
      .where('name', '=', given('name')),
  )
}

function insertQuery({ build }: SqlContext): ConsumerQueries['insert'] {
  return defineQuery((given) =>
    build.insertInto('consumers').values({ name: given('name'), position: given('position'), holder: null, until: 0 }),
  )
}

function leaseQuery({ build, dialect }: SqlContext): ConsumerQueries['lease'] {
  return defineQuery((given) =>
    build
      .updateTable('consumers')
      .set({ holder: given('holder'), until: sql<number>`${dialect.now} + ${given('milliseconds')}` })
      .where('name', '=', given('name')),
  )
}

function moveQuery({ build }: SqlContext): ConsumerQueries['move'] {
  return defineQuery((given) =>
    build
      .updateTable('consumers')
      .set({ position: given('position') })
      .where('name', '=', given('name')),
  )
}

function releaseQuery({ build }: SqlContext): ConsumerQueries['release'] {
  return defineQuery((given) =>
    build
      .updateTable('consumers')
      .set({ holder: null, until: 0 })
      .where('name', '=', given('name'))
      .where('holder', '=', given('holder')),
  )
}

function removeQuery({ build }: SqlContext): ConsumerQueries['remove'] {
  return defineQuery((given) => build.deleteFrom('consumers').where('name', '=', given('name')).returning('name'))
}

/** Needs no lock: a cursor only moves forward, so every name has permanently processed the place that is read. */
function slowestQuery({ build, columns }: SqlContext): ConsumerQueries['slowest'] {
  return asWritten(
    defineQuery(() =>
      build
        .selectFrom('consumers')
        .select(columns.number('position').as('position'))
        .orderBy('consumers.position')
        .limit(1),
    ),
  )
}
