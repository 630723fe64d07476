import type { RawBuilder, SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { EventDraft, ForgeEvent } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { WriteContext } from '../../contract/stores.ts'
import { toMilliseconds } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Slot, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import { queryEachAfter } from '../session.ts'

/** An event as a row of our table. */
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

/** The columns of `selectEvents`. */
export const EVENT_COLUMNS: readonly (keyof EventRow)[] = [
  'id',
  'type',
  'version',
  'at',
  'actorId',
  'organizationId',
  'repositoryId',
  'issueId',
  'userId',
  'data',
]

/** Returns the expression that orders committed events. */
export function outboxPlace({ dialect }: SqlContext): RawBuilder<number> {
  return sql`${sql.ref(`events.${dialect.outboxOrder}`)}`
}

/** Begins a query for complete events. */
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

/** Converts a row to an event. A type that a newer library wrote is passed through unchanged. */
export function toEvent(row: EventRow): ForgeEvent {
  const event: unknown = { ...row, at: new Date(row.at), data: JSON.parse(row.data) }
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the writer paired the content of `data` with `type`
  return event as ForgeEvent
}

/** The written version of the format of `data`. */
const DATA_VERSION = 1

/** What one attempt writes: rows and heads, and its events with the actor and the time that they share. */
interface Written {
  readonly statements: readonly Statement<unknown>[]
  readonly drafts: readonly EventDraft[]
  readonly actorId: Id | null
  readonly at: Date
}

interface NewEvent extends Pick<Written, 'actorId' | 'at'> {
  readonly draft: EventDraft
}

/** Writes changes with their events, inside their transaction. */
export class EventLog {
  readonly #insert: Query<NewEvent, { readonly id: Id }>

  constructor(context: SqlContext) {
    this.#insert = insertQuery(context)
  }

  /** Writes rows, heads and events together. Returns the rows of each statement, and the events with their ids. */
  *write(
    session: Session,
    { statements, drafts, actorId, at }: Written,
  ): SyncOrAsync<{ readonly rows: readonly (readonly unknown[])[]; readonly events: readonly ForgeEvent[] }> {
    const inserts = drafts.map((draft) => this.#insert({ draft, at, actorId }))
    const [rows, written] = yield* queryEachAfter<unknown, readonly { readonly id: Id }[]>(session, statements, inserts)
    const events = drafts.map((draft, index): ForgeEvent => {
      const id = written[index]?.[0]?.id
      if (id === undefined) throw new Error('an event was written without an id')
      return copyEvent({ id, version: DATA_VERSION, at, actorId, ...draft })
    })
    return { rows, events }
  }

  /** Passes the events to the host's `beforeCommit` before the commit. An exception from it ends the change. */
  show<Tx>(
    session: Session,
    events: readonly ForgeEvent[],
    { beforeCommit }: WriteContext<Tx>,
    transaction: Tx,
  ): SyncOrAsync<void> {
    if (events.length === 0 || beforeCommit === undefined) return wait(undefined)

    return wait(session.lend(() => beforeCommit(events.map(copyEvent), transaction)))
  }
}

/** Copies an event: the receiver may modify its copy. */
function copyEvent<E extends ForgeEvent>(event: E): E {
  return { ...event, at: new Date(event.at), data: { ...event.data } }
}

function insertQuery({ build, ids, columns }: SqlContext): Query<NewEvent, { readonly id: Id }> {
  return defineQuery((given) => {
    const draft = given('draft')
    const of = <V>(pick: (event: EventDraft) => V): Slot<NewEvent, V> => draft.as(pick)

    return build
      .insertInto('events')
      .values({
        type: of(({ type }) => type),
        version: DATA_VERSION,
        at: given('at').as(toMilliseconds),
        actor_id: ids.given('user', given('actorId')),
        organization_id: ids.given(
          'organization',
          of(({ organizationId }) => organizationId),
        ),
        repository_id: ids.given(
          'repository',
          of(({ repositoryId }) => repositoryId),
        ),
        issue_id: ids.given(
          'issue',
          of(({ issueId }) => issueId),
        ),
        user_id: ids.given(
          'user',
          of(({ userId }) => userId),
        ),
        data: of(({ data }) => JSON.stringify(data)),
      })
      .returning(columns.id('id').as('id'))
  })
}
