import type { RawBuilder, SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { EventDraft, ForgeEvent } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { WriteContext } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { QueryValues, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { AtOnceSession, Sending, Session } from '../session.ts'
import { queryEachAfter, rowsOfEach } from '../session.ts'

/** The fields of an event that are written: `data` is JSON. */
const WRITTEN = [
  'type',
  'version',
  'at',
  'actorId',
  'organizationId',
  'repositoryId',
  'issueId',
  'userId',
  'data',
] as const

/** The fields of an event. */
export const EVENT_FIELDS: readonly ['id', ...typeof WRITTEN] = ['id', ...WRITTEN]

/** An event as a row of our table. */
export type EventRow = Pick<Row<'events'>, (typeof EVENT_FIELDS)[number]>

/** Returns the expression that orders committed events. */
export function outboxPosition({ dialect }: SqlContext): RawBuilder<number> {
  return sql`${sql.ref(`events.${dialect.outboxOrder}`)}`
}

/** Begins a query for complete events. */
export function selectEvents(context: SqlContext): SelectQueryBuilder<Tables, 'events', EventRow> {
  return context.build.selectFrom('events').select(fieldsOf(context, 'events').read(...EVENT_FIELDS))
}

/** Converts a row to an event. A type that a newer library wrote is passed through unchanged. */
export function toEvent(row: EventRow): ForgeEvent {
  const event: unknown = { ...row, at: new Date(row.at), data: JSON.parse(row.data) }
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the writer paired the content of `data` with `type`
  return event as ForgeEvent
}

/** The written version of the format of `data`. */
const DATA_VERSION = 1

/** What one attempt writes beside its events. */
export interface Logged {
  /** What writes the rows and the heads. */
  readonly statements: readonly Statement<unknown>[]
  /** Checks the rows that the statements return. */
  readonly verify?: ((rows: readonly (readonly unknown[])[]) => void) | undefined
  readonly drafts: readonly EventDraft[]
  readonly at: Date
  readonly sending?: Sending | undefined
}

/** An event as its statement writes it. */
type NewEvent = Omit<EventRow, 'id' | 'at'> & { readonly at: Date }

/** Writes changes with their events, inside their transaction. */
export class EventLog {
  readonly #context: SqlContext

  readonly #insert = defineQuery((given: QueryValues<NewEvent>) => {
    const fields = fieldsOf(this.#context, 'events')
    const insert = this.#context.build.insertInto('events').values(fields.written(given, ...WRITTEN))
    return insert.returning(fields.read('id'))
  })

  constructor(context: SqlContext) {
    this.#context = context
  }

  /**
   * Writes rows, heads and events together, and passes the events to the host's `beforeCommit`. An exception from it ends
   * the change.
   *
   * @param open - the open transaction, as the host's code receives it
   */
  *write<Tx>(
    session: Session,
    { statements, verify, drafts, at, sending }: Logged,
    { by: { actorId }, beforeCommit }: WriteContext<Tx>,
    open: Tx,
  ): SyncOrAsync<readonly ForgeEvent[]> {
    const inserts = drafts.map((draft) => this.#inserting(draft, at, actorId))
    const [rows, written] = yield* queryEachAfter<unknown, Written[]>(session, statements, inserts, sending)
    verify?.(rows)
    const events = toEvents(drafts, written, at, actorId)
    if (events.length > 0 && beforeCommit !== undefined) {
      yield* wait(session.runHostCode(() => beforeCommit(events.map(copyEvent), open)))
    }
    return events
  }

  /** Same by one statement that is a transaction. Returns undefined if nothing was written. */
  *writeAtOnce(
    session: AtOnceSession,
    { statements, drafts, at }: Logged,
    actorId: Id | null,
  ): SyncOrAsync<readonly ForgeEvent[] | undefined> {
    const inserts = drafts.map((draft) => this.#inserting(draft, at, actorId))
    const rows = yield* wait(session.commitAtOnce([...statements, ...inserts]))
    return rows && toEvents(drafts, rowsOfEach<Written[]>(rows.slice(statements.length)), at, actorId)
  }

  #inserting({ data, ...draft }: EventDraft, at: Date, actorId: Id | null): Statement<Written> {
    return this.#insert({ version: DATA_VERSION, at, actorId, data: JSON.stringify(data), ...draft })
  }
}

/** What the statement of an event returns. */
interface Written {
  readonly id: Id
}

function toEvents(
  drafts: readonly EventDraft[],
  written: readonly (readonly Written[])[],
  at: Date,
  actorId: Id | null,
): readonly ForgeEvent[] {
  return drafts.map((draft, index) => {
    const id = written[index]?.[0]?.id
    if (id === undefined) throw new Error('an event was written without an id')
    return copyEvent({ id, version: DATA_VERSION, at, actorId, ...draft })
  })
}

/** Copies an event: the receiver may modify its copy. */
function copyEvent<E extends ForgeEvent>(event: E): E {
  return { ...event, at: new Date(event.at), data: { ...event.data } }
}
