import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import { outboxPlace } from '../event-rows.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery } from '../query.ts'
import type { SqlContext } from '../sql-context.ts'
import type { Tables } from '../tables.ts'
import type { Stretch } from './pruning.ts'

/** Where a stretch ends, and how many events it has; null when none. */
export interface StretchEnd {
  readonly end: number | null
  readonly count: number
}

/** The statements of pruning. */
export interface PruningQueries {
  /** Where a stretch of so many events ends, at most, among those that are behind every consumer. */
  readonly end: Query<{ readonly after: number; readonly behindAll: number; readonly limit: number }, StretchEnd>
  /** What of a stretch may go, in order. */
  readonly removable: Query<Stretch & { readonly before: number }, { readonly id: Id; readonly place: number }>
  readonly remove: Query<{ readonly ids: readonly Id[] }, unknown>
}

/** Defines the statements of pruning. */
export function pruningQueries(context: SqlContext): PruningQueries {
  return {
    end: endQuery(context),
    removable: removableQuery(context),
    remove: removeQuery(context),
  }
}

function endQuery(context: SqlContext): PruningQueries['end'] {
  const { build, dialect, columns } = context
  const place = outboxPlace(context)
  return defineQuery((given) => {
    const stretch = build
      .selectFrom('events')
      .select(place.as('place'))
      .where(place, '>', given('after'))
      .where(place, '<=', given('behindAll'))
      .orderBy(place)
      .limit(given('limit'))
    return build
      .selectFrom(stretch.as('stretch'))
      .select([dialect.number(sql`max(${sql.ref('stretch.place')})`).as('end'), columns.count().as('count')])
  })
}

/** No locking read: behind the lock of the outbox nobody else removes events, and what is gone does not come back. */
function removableQuery(context: SqlContext): PruningQueries['removable'] {
  const place = outboxPlace(context)
  return asWritten(
    defineQuery((given) =>
      context.build
        .selectFrom('events')
        .select([context.columns.id('events.id').as('id'), context.dialect.number(place).as('place')])
        .where(place, '>', given('after'))
        .where(place, '<=', given('end'))
        .where('at', '<', given('before'))
        .where((event) => isNoLivingHistory(context, event))
        .orderBy(place),
    ),
  )
}

/** Pins and unpins are the history of their issue, until it is gone or its repository is. */
function isNoLivingHistory({ columns }: SqlContext, event: ExpressionBuilder<Tables, 'events'>): Expression<SqlBool> {
  const tombstone = event
    .selectFrom('issue_tombstones')
    .select('issue_tombstones.issue_id')
    .whereRef('issue_tombstones.issue_id', '=', 'events.issue_id')
  const retiredBoard = event
    .selectFrom('heads')
    .select('heads.key')
    .where('heads.scope', '=', 'issueBoard')
    .where('heads.key', '=', columns.id('events.repository_id'))
    .where('heads.retired', '=', 1)
  return event.or([
    event('type', 'not in', ['issue.pinned', 'issue.unpinned']),
    event.exists(tombstone),
    event.exists(retiredBoard),
  ])
}

function removeQuery({ build, dialect }: SqlContext): PruningQueries['remove'] {
  return defineQuery((given) =>
    dialect.removeEvents(
      build,
      given('ids').as((ids) => JSON.stringify(ids)),
    ),
  )
}
