import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../../schema/sync-or-async.ts'
import type { EventStore } from '../../contract/events.ts'
import type { SqlContext } from '../context.ts'
import { toMilliseconds } from '../fields.ts'
import { goneIn } from '../host/references.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { HeadScope, Tables } from '../schema/tables.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { query, queryEach } from '../session.ts'
import { outboxPosition } from './event-log.ts'
import type { Outbox } from './outbox.ts'

/** The maximum number of events that are checked together and removed in one transaction. */
const MAX_PRUNED_EVENTS = 500

/** What became of a few events: how many are removed, and the last of them, if others follow. */
interface Pruned {
  readonly removed: number
  readonly end: number | undefined
}

/**
 * Creates the removal of old events. It walks through the outbox, a few events in each transaction, so that others do not
 * wait long for the lock of the outbox, and it does not block the process.
 */
export function sqlPruning<Tx>(
  context: SqlContext,
  runtime: SqlRuntime<Tx>,
  outbox: Outbox<Tx>,
): EventStore<Tx>['prune'] {
  const { build, dialect, columns } = context
  const position = outboxPosition(context)

  // The position that every name has processed; no row if there are no names. It needs no lock: a cursor only moves forward, so
  // every name has permanently processed the position that is read.
  const behindAll = defineQuery(
    (_: QueryValues<unknown>) =>
      build
        .selectFrom('consumers')
        .select(columns.number('position').as('position'))
        .orderBy('consumers.position')
        .limit(1),
    { asWritten: true },
  )

  // Not a locking read: no other transaction removes events while this one has the lock of the outbox, and removed events
  // do not come back.
  const candidates = defineQuery(
    (given: QueryValues<{ after: number; behindAll: number; before: number; limit: number }>) =>
      build
        .selectFrom('events')
        .select([columns.id('events.id').as('id'), dialect.number(position).as('sortKey')])
        .select((event) => {
          const goes = event.and([event('at', '<', given('before')), isNoLivingHistory(context, event)])
          return dialect.number(sql`case when ${goes} then 1 else 0 end`).as('goes')
        })
        .where(position, '>', given('after'))
        .where(position, '<=', given('behindAll'))
        .orderBy(position)
        .limit(given('limit')),
    { asWritten: true },
  )

  const removing = defineQuery((given: QueryValues<{ ids: readonly Id[] }>) =>
    dialect.removeEvents(
      build,
      given('ids').as((ids) => JSON.stringify(ids)),
    ),
  )

  function* removeAmong(session: Session, after: number, before: number): SyncOrAsync<Pruned> {
    const { state, rows: slowest } = yield* outbox.lock(session, [behindAll({})])
    const range = { after, behindAll: slowest[0]?.position ?? Number.MAX_SAFE_INTEGER, limit: MAX_PRUNED_EVENTS }
    const found = yield* query(session, candidates({ before, ...range }))
    const gone = found.filter(({ goes }) => goes !== 0)
    const last = gone.at(-1)
    if (last !== undefined) {
      const floor = Math.max(state.floor, last.sortKey)
      yield* queryEach(session, [removing({ ids: gone.map(({ id }) => id) }), outbox.saving({ ...state, floor })])
    }
    // A range that is not full is the last: events written meanwhile wait for the next prune.
    return { removed: gone.length, end: found[MAX_PRUNED_EVENTS - 1]?.sortKey }
  }

  function* prune(before: number): SyncOrAsync<number> {
    yield* outbox.catchUp()
    let removed = 0
    for (let after = 0; ; ) {
      const from = after
      const pruned = yield* wait(runtime.write((session) => removeAmong(session, from, before), {}))
      removed += pruned.removed
      if (pruned.end === undefined) return removed
      after = pruned.end
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
function isNoLivingHistory(context: SqlContext, event: ExpressionBuilder<Tables, 'events'>): Expression<SqlBool> {
  const { columns } = context
  const retired = (scope: HeadScope, id: string) =>
    event
      .selectFrom('heads')
      .select('heads.key')
      .where('heads.scope', '=', scope)
      .where('heads.key', '=', columns.id(id))
      .where('heads.retired', '=', 1)
  return event.or([
    event('type', 'not in', ['issue.pinned', 'issue.unpinned']),
    event.exists(retired('issue', 'events.issue_id')),
    event.exists(retired('issueBoard', 'events.repository_id')),
    ...goneIn(context, 'events', ['issue', 'repository']),
  ])
}
