import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { isForgeError } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { ForgeEvent } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after, runMaybeAsync, wait } from '../../../schema/sync-or-async.ts'
import type { EventFilter, EventStore } from '../../contract/events.ts'
import type { PageQuery } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Statement } from '../query.ts'
import { compileStatement, defineQuery, Slot } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { query } from '../session.ts'
import type { StoreParts } from './aggregate.ts'
import { Consumers } from './consumers.ts'
import type { EventRow } from './event-log.ts'
import { outboxPlace, selectEvents, toEvent } from './event-log.ts'
import type { CountEvents } from './event-totals.ts'
import { EventTotals } from './event-totals.ts'
import type { OutboxParts } from './outbox.ts'
import { Numbering, Outbox, OutboxRow } from './outbox.ts'
import type { CountedRows, PagedList, Slice, Tail } from './pages.ts'
import { readPage } from './pages.ts'
import { Pruning } from './pruning.ts'

/** Creates the event store of an SQL storage. */
export function sqlEvents<Tx>({ context, runtime }: StoreParts<Tx>): EventStore<Tx> {
  const row = new OutboxRow(context)
  const numbering = new Numbering(context, runtime, row)
  const events = new Events({ context, runtime, row, numbering })
  const outbox = new Outbox({ context, runtime, row, numbering })
  const consumers = new Consumers(context, row)
  const pruning = new Pruning({ context, runtime, row, numbering, consumers })

  return {
    read: (query) => runMaybeAsync(outbox.read(query)),
    list: (filter, query) => runMaybeAsync(events.list(filter, query)),
    history: (issueId, transaction) => runtime.read((session) => events.history(session, issueId), transaction),
    claim: ({ name, holder }, milliseconds) =>
      runtime.write((session) => consumers.claim(session, { name, holder }, milliseconds), {}),
    advance: ({ name, holder }, cursor) =>
      runtime.write((session) => consumers.advance(session, { name, holder }, cursor), {}),
    release: ({ name, holder }) => runtime.write((session) => consumers.release(session, { name, holder }), {}),
    forget: (name) => runtime.write((session) => consumers.forget(session, name), {}),
    prune: (before) => runMaybeAsync(pruning.prune(before)),
  }
}

type Pinning = ForgeEvent<'issue.pinned' | 'issue.unpinned'>

/**
 * The number of events without a position from which on a page numbers some of them. To count this many takes less time
 * than to read a page.
 */
const MAX_UNNUMBERED = 1000

/** Reads events. The event log writes them. */
class Events<Tx> {
  readonly #runtime: SqlRuntime<Tx>
  readonly #numbering: Numbering<Tx>
  readonly #queries: EventQueries
  readonly #totals: EventTotals

  constructor({ context, runtime, numbering }: OutboxParts<Tx>) {
    this.#runtime = runtime
    this.#numbering = numbering
    this.#queries = eventQueries(context)
    this.#totals = new EventTotals(context, runtime, countQuery(context))
  }

  /** Numbers events if a host never reads its outbox: otherwise every page would count all of them. */
  *list(filter: EventFilter, pageQuery: PageQuery): SyncOrAsync<Page<ForgeEvent>> {
    const reading = this.#runtime.readSnapshot((session) => this.#page(session, filter, pageQuery), undefined)
    const { page, unplaced } = yield* wait(reading)
    if (unplaced >= MAX_UNNUMBERED) yield* this.#number()
    return page
  }

  /** The page has been read: what fails here is left to the next call. */
  *#number(): SyncOrAsync<void> {
    try {
      yield* this.#numbering.step()
    } catch (error) {
      if (!isForgeError(error)) throw error
    }
  }

  /** Runs in a snapshot and counts the events once, because a filter may match very many. */
  *#page(session: Session, filter: EventFilter, pageQuery: PageQuery) {
    const { total, unplaced } = yield* this.#totals.of(session, filter)

    const list: PagedList<EventRow, ForgeEvent> = {
      start: -Number.MAX_SAFE_INTEGER,
      count: () => wait(total),
      slice: (part) => counted(total, query(session, this.#queries.slice(filter, part))),
      tail: (part) => counted(total, query(session, this.#queries.tail(filter, part))),
      place: (row) => -Number(row.id),
      item: toEvent,
    }
    return { page: yield* readPage(list, pageQuery), unplaced }
  }

  history(session: Session, issueId: Id): MaybePromise<readonly Pinning[]> {
    return after(session.all(this.#queries.history({ issueId })), (rows) => rows.map(toEvent).filter(isPinning))
  }
}

function* counted<Row>(total: number, reading: SyncOrAsync<readonly Row[]>): SyncOrAsync<CountedRows<Row>> {
  return { rows: yield* reading, total }
}

function isPinning(event: ForgeEvent): event is Pinning {
  return event.type === 'issue.pinned' || event.type === 'issue.unpinned'
}

/**
 * The statements of the events. Those of the audit view are built for each call, because its filter has many shapes.
 */
export interface EventQueries {
  readonly history: Query<{ readonly issueId: Id }, EventRow>
  /** Newest first. A place is the negated id. */
  readonly slice: (filter: EventFilter, slice: Slice) => Statement<EventRow>
  /** Oldest first. */
  readonly tail: (filter: EventFilter, tail: Tail) => Statement<EventRow>
}

/** Defines the statements of the events. */
function eventQueries(context: SqlContext): EventQueries {
  return {
    history: historyQuery(context),
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

function countQuery(context: SqlContext): CountEvents {
  const place = outboxPlace(context)
  const all = context.build.selectFrom('events').select(context.columns.count().as('total'))
  return (filter, part) => {
    const matching = narrow(context, all, filter)
    if (part === undefined) return compileStatement(matching)
    if (part === 'unplaced') return compileStatement(matching.where(place, 'is', null))

    const [after, end] = [part.after, part.end].map((bound) => context.ids.givenInteger(constant(String(bound))))
    return compileStatement(matching.where(sql<SqlBool>`${place} > ${after} and ${place} <= ${end}`))
  }
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

/**
 * Writes the list out as constants. With a list as a parameter the planner has no estimate: it read every event of
 * these types.
 */
function isAmong(types: readonly string[]): RawBuilder<SqlBool> {
  if (types.length === 0) return sql`1 = 0`
  return sql`${sql.ref('type')} in (${sql.join([...new Set(types)].map(constant))})`
}

function constant<V>(value: V): Slot<undefined, V> {
  return new Slot(() => value)
}
