import type { RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { ForgeEvent } from '../../../schema/records.ts'
import { runMaybeAsync } from '../../../schema/sync-or-async.ts'
import type { EventFilter, EventStore } from '../../contract/events.ts'
import { after } from '../after.ts'
import { fieldsOf } from '../fields.ts'
import type { QueryValues, Statement } from '../query.ts'
import { compileStatement, defineQuery, Slot } from '../query.ts'
import type { StoreParts } from './aggregate.ts'
import { sqlConsumers } from './consumers.ts'
import type { EventRow } from './event-log.ts'
import { selectEvents, toEvent } from './event-log.ts'
import { Outbox } from './outbox.ts'
import type { Slice } from './pages.ts'
import { cursorOf, pageOf, sliceIn } from './pages.ts'
import { sqlPruning } from './pruning.ts'

type Pinning = ForgeEvent<'issue.pinned' | 'issue.unpinned'>

/** The fields by which the audit view is filtered. */
const SUBJECTS = ['organizationId', 'repositoryId', 'userId', 'actorId'] as const

/** Creates the event store of an SQL storage. */
export function sqlEvents<Tx>({ context, runtime }: StoreParts<Tx>): EventStore<Tx> {
  const outbox = new Outbox(context, runtime)
  const fields = fieldsOf(context, 'events')
  const complete = selectEvents(context)

  const history = defineQuery((given: QueryValues<{ issueId: Id }>) =>
    complete
      .where(fields.are(given, 'issueId'))
      .where('type', 'in', ['issue.pinned', 'issue.unpinned'])
      .orderBy('events.id'),
  )

  /** Returns the statement for a part of the audit view. It is built for each call, because its filter has many shapes. */
  function listing({ types, ...ids }: EventFilter, { after, offset, limit }: Slice): Statement<EventRow> {
    const named = SUBJECTS.filter((field) => ids[field] !== undefined)
    const about =
      named.length === 0 ? complete : complete.where(fields.are((field) => constant(ids[field] ?? null), ...named))
    const found = types === undefined ? about : about.where(isAmong(types))
    return compileStatement(
      found
        .where('events.id', '<', context.ids.givenInteger(constant(String(-after))))
        .orderBy('events.id', 'desc')
        .limit(limit)
        .offset(offset),
    )
  }

  return {
    read: (query) => runMaybeAsync(outbox.read(query)),
    list: (filter, query) =>
      runtime.read((session) => {
        const slice = sliceIn(query, -Number.MAX_SAFE_INTEGER)
        return after(session.all(listing(filter, slice)), (found) => pageOf(found, query.limit, toEvent, cursorAt))
      }, undefined),
    history: (issueId, transaction) =>
      runtime.read(
        (session) => after(session.all(history({ issueId })), (rows) => rows.map(toEvent).filter(isPinning)),
        transaction,
      ),
    ...sqlConsumers(context, runtime, outbox),
    prune: sqlPruning(context, runtime, outbox),
  }
}

/** Positions of the audit view are negative, because it lists the newest first. */
function cursorAt({ id }: EventRow): string {
  return cursorOf(-Number(id))
}

function isPinning(event: ForgeEvent): event is Pinning {
  return event.type === 'issue.pinned' || event.type === 'issue.unpinned'
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
