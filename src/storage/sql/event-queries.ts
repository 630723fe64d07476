import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../schema/ids.ts'
import type { EventFilter } from '../contract/event-store.ts'
import type { EventRow } from './event-rows.ts'
import { selectEvents } from './event-rows.ts'
import type { Slice, Tail } from './pages.ts'
import type { Query, Statement } from './query.ts'
import { compileStatement, defineQuery, Slot } from './query.ts'
import type { SqlContext } from './sql-context.ts'
import type { Tables } from './tables.ts'

/** The statements of the events. Those of the audit view are put together from call to call: its filter has many shapes. */
export interface EventQueries {
  readonly history: Query<{ readonly issueId: Id }, EventRow>
  readonly among: Query<{ readonly eventIds: readonly Id[] }, EventRow>
  readonly count: (filter: EventFilter) => Statement<{ readonly total: number }>
  /** Newest first; a place is the id below zero. */
  readonly slice: (filter: EventFilter, slice: Slice) => Statement<EventRow>
  /** Oldest first. */
  readonly tail: (filter: EventFilter, tail: Tail) => Statement<EventRow>
}

/** Defines the statements of the events. */
export function eventQueries(context: SqlContext): EventQueries {
  return {
    history: historyQuery(context),
    among: amongQuery(context),
    count: countQuery(context),
    slice: sliceQuery(context),
    tail: tailQuery(context),
  }
}

function historyQuery(context: SqlContext): EventQueries['history'] {
  return defineQuery((given) =>
    selectEvents(context)
      .where('issue_id', '=', context.ids.given('issue', given('issueId')))
      .where('type', 'in', ['issue.pinned', 'issue.unpinned'])
      .orderBy('events.id'),
  )
}

function amongQuery(context: SqlContext): EventQueries['among'] {
  const { dialect } = context
  return defineQuery((given) =>
    selectEvents(context)
      .where('events.id', 'in', dialect.elements(given('eventIds').as(toJson), dialect.casts.integer))
      .orderBy('events.id'),
  )
}

function countQuery(context: SqlContext): EventQueries['count'] {
  const all = context.build.selectFrom('events').select(context.columns.count().as('total'))
  return (filter) => compileStatement(narrow(context, all, filter))
}

function sliceQuery(context: SqlContext): EventQueries['slice'] {
  const all = selectEvents(context)
  return (filter, { after, offset, limit }) =>
    compileStatement(
      narrow(context, all, filter)
        .where('events.id', '<', context.ids.givenInteger(constant(String(-after))))
        .orderBy('events.id', 'desc')
        .limit(limit)
        .offset(offset),
    )
}

function tailQuery(context: SqlContext): EventQueries['tail'] {
  const all = selectEvents(context)
  return (filter, { offset, limit }) =>
    compileStatement(narrow(context, all, filter).orderBy('events.id').limit(limit).offset(offset))
}

function narrow<Row>(
  { ids }: SqlContext,
  query: SelectQueryBuilder<Tables, 'events', Row>,
  { organizationId, repositoryId, userId, actorId, types }: EventFilter,
): SelectQueryBuilder<Tables, 'events', Row> {
  let narrowed = query
  if (organizationId !== undefined) {
    narrowed = narrowed.where('organization_id', '=', ids.given('organization', constant(organizationId)))
  }
  if (repositoryId !== undefined) {
    narrowed = narrowed.where('repository_id', '=', ids.given('repository', constant(repositoryId)))
  }
  if (userId !== undefined) narrowed = narrowed.where('user_id', '=', ids.given('user', constant(userId)))
  if (actorId !== undefined) narrowed = narrowed.where('actor_id', '=', ids.given('user', constant(actorId)))
  return types === undefined ? narrowed : narrowed.where(isAmong(types))
}

/** Written out, since a planner sees no further into a list that is a parameter: it read every event of these types. */
function isAmong(types: readonly string[]): RawBuilder<SqlBool> {
  if (types.length === 0) return sql`1 = 0`
  return sql`${sql.ref('type')} in (${sql.join([...new Set(types)].map(constant))})`
}

function constant<V>(value: V): Slot<undefined, V> {
  return new Slot(() => value)
}

function toJson(texts: readonly string[]): string {
  return JSON.stringify(texts)
}
