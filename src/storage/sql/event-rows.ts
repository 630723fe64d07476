import type { RawBuilder, SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { SqlContext } from './sql-context.ts'
import type { Tables } from './tables.ts'

/** An event as our table keeps it. */
export interface EventRow {
  readonly id: Id
  readonly type: string
  readonly version: number
  readonly at: number
  readonly actorId: Id | null
  readonly organizationId: Id | null
  readonly repositoryId: Id | null
  readonly issueId: Id | null
  readonly userId: Id | null
  readonly data: string
}

/** An event of the outbox, and its place there. */
export interface PlacedEvent extends EventRow {
  readonly place: number
}

/** What orders committed events. */
export function outboxPlace({ dialect }: SqlContext): RawBuilder<number> {
  return sql`${sql.ref(`events.${dialect.outboxOrder}`)}`
}

/** Begins a query for whole events. */
export function selectEvents({ build, columns }: SqlContext): SelectQueryBuilder<Tables, 'events', EventRow> {
  return build
    .selectFrom('events')
    .select([
      columns.id('events.id').as('id'),
      'type',
      columns.number('version').as('version'),
      columns.number('at').as('at'),
      columns.idOrNull('actor_id').as('actorId'),
      columns.idOrNull('organization_id').as('organizationId'),
      columns.idOrNull('repository_id').as('repositoryId'),
      columns.idOrNull('issue_id').as('issueId'),
      columns.idOrNull('user_id').as('userId'),
      'data',
    ])
}

/** The event of a row. A type that a newer library wrote is passed on as it is. */
export function toEvent(row: EventRow): ForgeEvent {
  const event: unknown = { ...row, at: new Date(row.at), data: JSON.parse(row.data) }
  return event as ForgeEvent // unknown data: what `data` holds was paired with `type` by whoever appended it
}
