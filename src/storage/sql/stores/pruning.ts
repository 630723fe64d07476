import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../../schema/sync-or-async.ts'
import { toMilliseconds } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { defer, query, queryFirst } from '../session.ts'
import type { Consumers } from './consumers.ts'
import { outboxPlace } from './event-log.ts'
import type { Numbering, OutboxParts, OutboxRow } from './outbox.ts'

/** The maximum number of events that are checked together and removed in one transaction. */
const MAX_PRUNED_EVENTS = 500

/** A range of the outbox. It excludes its beginning and includes its end. */
export interface PageRange {
  readonly after: number
  readonly end: number
}

/** What pruning is built from. */
export interface PruningParts<Tx> extends OutboxParts<Tx> {
  readonly consumers: Consumers
}

/**
 * Removes old events. It walks through the outbox in short ranges, reads without locks, and takes the lock only if
 * something is to be removed. Neither writers nor readers wait for it, and it does not block the process.
 */
export class Pruning<Tx> {
  readonly #runtime: SqlRuntime<Tx>
  readonly #row: OutboxRow
  readonly #numbering: Numbering<Tx>
  readonly #consumers: Consumers
  readonly #queries: PruningQueries

  constructor({ context, runtime, row, numbering, consumers }: PruningParts<Tx>) {
    this.#runtime = runtime
    this.#row = row
    this.#numbering = numbering
    this.#consumers = consumers
    this.#queries = pruningQueries(context)
  }

  /** Removes the events that were created before a time and that every consumer has processed. Returns how many. */
  *prune(before: Date): SyncOrAsync<number> {
    const time = toMilliseconds(before)
    yield* this.#numbering.catchUp()
    let range = yield* this.#next(0)
    let removed = yield* this.#clear(range, time)
    while (!range.isLast) {
      yield* wait(turn())
      range = yield* this.#next(range.end)
      removed += yield* this.#clear(range, time)
    }
    return removed
  }

  /** Returns the next range. A range that is not full is the last: events written meanwhile wait for the next prune. */
  *#next(after: number): SyncOrAsync<PageRange & { readonly isLast: boolean }> {
    const found = yield* wait(this.#runtime.read((session) => runMaybeAsync(this.#measure(session, after)), undefined))
    return { after, end: found?.end ?? after, isLast: found === undefined || found.count < MAX_PRUNED_EVENTS }
  }

  *#measure(session: Session, after: number): SyncOrAsync<StretchEnd | undefined> {
    const behindAll = (yield* this.#consumers.behindAll(session)) ?? Number.MAX_SAFE_INTEGER
    return yield* queryFirst(session, this.#queries.end({ after, behindAll, limit: MAX_PRUNED_EVENTS }))
  }

  *#clear({ after, end }: PageRange, before: number): SyncOrAsync<number> {
    const removable = this.#queries.removable({ after, end, before })
    const found = yield* wait(this.#runtime.read((session) => session.all(removable), undefined))
    if (found.length === 0) return 0

    return yield* wait(this.#runtime.write((session) => this.#remove(session, { after, end }, before), {}))
  }

  /** Reads again after it has the lock: another process may have pruned, and a new consumer may have been added. */
  *#remove(session: Session, { after, end }: PageRange, before: number): SyncOrAsync<number> {
    const state = yield* this.#row.lock(session)
    const behindAll = (yield* this.#consumers.behindAll(session)) ?? end
    const rows = yield* query(session, this.#queries.removable({ after, end: Math.min(end, behindAll), before }))
    const last = rows.at(-1)
    if (last === undefined) return 0

    yield* defer(session, this.#queries.remove({ ids: rows.map((row) => row.id) }))
    yield* this.#row.save(session, { ...state, floor: Math.max(state.floor, last.place) })
    return rows.length
  }
}

/** Yields to the event loop: if nothing waits, a long outbox would be pruned in one turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

/** Where a range ends, and how many events it has. The end is null if it has none. */
export interface StretchEnd {
  readonly end: number | null
  readonly count: number
}

/** The statements of pruning. */
export interface PruningQueries {
  /** Returns where a range of at most `limit` events ends, among those that every consumer has processed. */
  readonly end: Query<{ readonly after: number; readonly behindAll: number; readonly limit: number }, StretchEnd>
  /** Returns the removable events of a range, in order. */
  readonly removable: Query<PageRange & { readonly before: number }, { readonly id: Id; readonly place: number }>
  readonly remove: Query<{ readonly ids: readonly Id[] }, unknown>
}

/** Defines the statements of pruning. */
function pruningQueries(context: SqlContext): PruningQueries {
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
    const range = build
      .selectFrom('events')
      .select(place.as('place'))
      .where(place, '>', given('after'))
      .where(place, '<=', given('behindAll'))
      .orderBy(place)
      .limit(given('limit'))
    return build
      .selectFrom(range.as('candidates'))
      .select([dialect.number(sql`max(${sql.ref('candidates.place')})`).as('end'), columns.count().as('count')])
  })
}

/**
 * Not a locking read: no other transaction removes events while this one has the lock of the outbox, and removed events
 * do not come back.
 */
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

/** Pins and unpins are the history of their issue until the issue or its repository is retired. */
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
