import { sql } from 'kysely'
import type { Consumer } from '../../contract/event-store.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery } from '../query.ts'
import type { SqlContext } from '../sql-context.ts'

/** A name's row, and what time it is. Times are milliseconds since 1970, by the database's clock. */
export interface ConsumerRow {
  readonly position: number
  readonly holder: string | null
  readonly until: number
  readonly now: number
}

/** Names one consumer. */
export interface ConsumerName {
  readonly name: string
}

/** The statements of the consumers. */
export interface ConsumerQueries {
  /** Locks the row, when there is one. */
  readonly lock: Query<ConsumerName, unknown>
  readonly find: Query<ConsumerName, ConsumerRow>
  readonly insert: Query<ConsumerName & { readonly position: number }, unknown>
  readonly lease: Query<Consumer & { readonly milliseconds: number }, unknown>
  readonly move: Query<ConsumerName & { readonly position: number }, unknown>
  readonly release: Query<Consumer, unknown>
  /** Gives a row back when there was one. */
  readonly remove: Query<ConsumerName, ConsumerName>
  /** The row that is farthest behind. */
  readonly slowest: Query<Record<never, never>, { readonly position: number }>
}

/** Defines the statements of the consumers. */
export function consumerQueries(context: SqlContext): ConsumerQueries {
  return {
    lock: lockQuery(context),
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

/** A name's cursor only moves on, so it needs no lock: what is read is behind every name for good. */
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
