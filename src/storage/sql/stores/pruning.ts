import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../../schema/sync-or-async.ts'
import type { EventStore } from '../../contract/events.ts'
import { toMilliseconds } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { QueryValues } from '../query.ts'
import { asWritten, defineQuery } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { query, queryEach, queryFirst } from '../session.ts'
import { behindAllQuery } from './consumers.ts'
import { outboxPlace } from './event-log.ts'
import type { Outbox } from './outbox.ts'

/** The maximum number of events that are checked together and removed in one transaction. */
const MAX_PRUNED_EVENTS = 500

/** A range of the outbox. It excludes its beginning and includes its end. */
interface PageRange {
  readonly after: number
  readonly end: number
}

/** Where a range ends, and how many events it has. The end is null if it has none. */
interface RangeEnd {
  readonly end: number | null
  readonly count: number
}

/**
 * Creates the removal of old events. It walks through the outbox in short ranges, reads without locks, and takes the lock
 * only if something is to be removed. Neither writers nor readers wait for it, and it does not block the process.
 */
export function sqlPruning<Tx>(
  context: SqlContext,
  runtime: SqlRuntime<Tx>,
  outbox: Outbox<Tx>,
): EventStore<Tx>['prune'] {
  const { build, dialect, columns } = context
  const place = outboxPlace(context)
  const behindAll = behindAllQuery(context)

  const rangeEnd = defineQuery((given: QueryValues<{ after: number; behindAll: number; limit: number }>) => {
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

  // Not a locking read: no other transaction removes events while this one has the lock of the outbox, and removed events
  // do not come back.
  const removable = asWritten(
    defineQuery((given: QueryValues<PageRange & { before: number }>) =>
      build
        .selectFrom('events')
        .select([columns.id('events.id').as('id'), dialect.number(place).as('place')])
        .where(place, '>', given('after'))
        .where(place, '<=', given('end'))
        .where('at', '<', given('before'))
        .where((event) => isNoLivingHistory(context, event))
        .orderBy(place),
    ),
  )

  const removing = defineQuery((given: QueryValues<{ ids: readonly Id[] }>) =>
    dialect.removeEvents(
      build,
      given('ids').as((ids) => JSON.stringify(ids)),
    ),
  )

  function* findEnd(session: Session, after: number): SyncOrAsync<RangeEnd | undefined> {
    const { position = Number.MAX_SAFE_INTEGER } = (yield* queryFirst(session, behindAll({}))) ?? {}
    return yield* queryFirst(session, rangeEnd({ after, behindAll: position, limit: MAX_PRUNED_EVENTS }))
  }

  /** Reads again after it has the lock: another process may have pruned, and a new consumer may have been added. */
  function* remove(session: Session, { after, end }: PageRange, before: number): SyncOrAsync<number> {
    const { state, rows: slowest } = yield* outbox.lock(session, [behindAll({})])
    const upTo = Math.min(end, slowest[0]?.position ?? end)
    const rows = yield* query(session, removable({ after, end: upTo, before }))
    const last = rows.at(-1)
    if (last === undefined) return 0

    const floor = Math.max(state.floor, last.place)
    yield* queryEach(session, [removing({ ids: rows.map((row) => row.id) }), outbox.saving({ ...state, floor })])
    return rows.length
  }

  function* prune(before: number): SyncOrAsync<number> {
    yield* outbox.catchUp()
    let removed = 0
    for (let after = 0; ; ) {
      const found = yield* wait(runtime.read((session) => runMaybeAsync(findEnd(session, after)), undefined))
      const range = { after, end: found?.end ?? after }
      const due = yield* wait(runtime.read((session) => session.all(removable({ before, ...range })), undefined))
      if (due.length > 0) removed += yield* wait(runtime.write((session) => remove(session, range, before), {}))
      // A range that is not full is the last: events written meanwhile wait for the next prune.
      if ((found?.count ?? 0) < MAX_PRUNED_EVENTS) return removed
      after = range.end
      yield* wait(turn())
    }
  }

  return (before) => runMaybeAsync(prune(toMilliseconds(before)))
}

/** Yields to the event loop: if nothing waits, a long outbox would be pruned in one turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
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
