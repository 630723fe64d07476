import { ForgeError } from '../../schema/errors.ts'
import type { ForgeEvent } from '../../schema/records.ts'
import type { Claim, Consumer, EventFilter, EventStore } from '../contract/events.ts'
import type { Lease, MemoryTables } from './memory-tables.ts'
import { boardHead, copyEvent } from './memory-tables.ts'
import { cursorOf, cutPage, indexAfter, noCursor, placeOfCursor, reversed } from './pages.ts'

/** Creates the events of a memory storage. The id of an event is its place. */
export function memoryEvents(tables: MemoryTables): EventStore<undefined> {
  return {
    ...memoryOutbox(tables),
    list(filter, query) {
      const page = cutPage(reversed(eventsMatching(tables, filter)), (event) => -Number(event.id), query)
      return { items: page.items.map(copyEvent), limit: page.limit, cursor: page.cursor }
    },
    history: (issueId) =>
      tables.eventsAbout({ issueId }).flatMap((event) => (isPinning(event) ? [copyEvent(event)] : [])),
  }
}

function idOf(event: ForgeEvent): number {
  return Number(event.id)
}

/** A filter by one subject, or by none, is a list that is kept. */
function eventsMatching(tables: MemoryTables, filter: EventFilter): readonly ForgeEvent[] {
  const about = tables.eventsAbout(filter)
  const { organizationId, repositoryId, userId, actorId, types } = filter
  const subjects = [organizationId, repositoryId, userId, actorId].filter((id) => id !== undefined)
  return subjects.length < 2 && types === undefined ? about : about.filter((event) => matches(event, filter))
}

function matches(event: ForgeEvent, filter: EventFilter): boolean {
  const { organizationId, repositoryId, userId, actorId, types } = filter
  if (organizationId !== undefined && event.organizationId !== organizationId) return false
  if (repositoryId !== undefined && event.repositoryId !== repositoryId) return false
  if (userId !== undefined && event.userId !== userId) return false
  if (actorId !== undefined && event.actorId !== actorId) return false
  return types === undefined || types.includes(event.type)
}

function isPinning(event: ForgeEvent): event is ForgeEvent<'issue.pinned' | 'issue.unpinned'> {
  return event.type === 'issue.pinned' || event.type === 'issue.unpinned'
}

type Outbox = Pick<EventStore<undefined>, 'read' | 'claim' | 'advance' | 'release' | 'forget' | 'prune'>

/** Creates the outbox of a memory storage. The id of an event is its place. */
function memoryOutbox(tables: MemoryTables): Outbox {
  return {
    read: ({ after, limit }) => read(tables, after === undefined ? tables.oldest : placeInOutbox(after), limit),
    claim: (consumer, milliseconds) => claim(tables, consumer, milliseconds),
    advance(consumer, cursor) {
      const place = placeInOutbox(cursor)
      const lease = leaseOf(tables, consumer)
      if (lease === undefined) return false

      tables.consumers.set(consumer.name, { ...lease, place: Math.max(lease.place, place) })
      return true
    },
    release(consumer) {
      const lease = leaseOf(tables, consumer)
      if (lease !== undefined) tables.consumers.set(consumer.name, { ...lease, holder: undefined })
    },
    forget: (name) => tables.consumers.delete(name),
    prune: (before) => prune(tables, before),
  }
}

function read(tables: MemoryTables, start: number, limit: number): { events: readonly ForgeEvent[]; cursor: string } {
  if (start < tables.oldest) {
    const oldest = cursorOf(tables.oldest)
    throw new ForgeError(
      'EVENTS_PRUNED',
      'events after this cursor have been pruned: continue from the cursor in details.oldest',
      { oldest },
    )
  }

  const first = indexAfter(tables.events, idOf, start)
  const events = tables.events.slice(first, first + limit).map(copyEvent)
  const last = events.at(-1)
  return { events, cursor: cursorOf(last === undefined ? start : Number(last.id)) }
}

/** Places count upwards from zero. A cursor of the audit view counts backwards and is not valid for the outbox. */
function placeInOutbox(cursor: string): number {
  const place = placeOfCursor(cursor)
  if (place < 0) throw noCursor()
  return place
}

function claim(tables: MemoryTables, { name, holder }: Consumer, milliseconds: number): Claim | undefined {
  const known = tables.consumers.get(name)
  const now = Date.now()
  if (known?.holder !== undefined && known.holder !== holder && known.until > now) return undefined

  const place = known?.place ?? tables.oldest
  tables.consumers.set(name, { place, holder, until: now + milliseconds })
  return { cursor: cursorOf(place) }
}

/** Returns the lease if the holder still has it. */
function leaseOf(tables: MemoryTables, { name, holder }: Consumer): Lease | undefined {
  const lease = tables.consumers.get(name)
  return lease?.holder === holder && lease.until > Date.now() ? lease : undefined
}

function prune(tables: MemoryTables, before: Date): number {
  const behindAll = Math.min(...[...tables.consumers.values()].map((lease) => lease.place))
  const goes = (event: ForgeEvent): boolean =>
    Number(event.id) <= behindAll && event.at.getTime() < before.getTime() && !isLivingHistory(tables, event)

  const removed = tables.events.filter(goes)
  tables.keepEvents(tables.events.filter((event) => !goes(event)))
  tables.oldest = Math.max(tables.oldest, Number(removed.at(-1)?.id ?? 0))
  return removed.length
}

/** Pins and unpins of an issue that is not retired, nor its repository, are shown as its history. */
function isLivingHistory(tables: MemoryTables, { type, issueId, repositoryId }: ForgeEvent): boolean {
  if (type !== 'issue.pinned' && type !== 'issue.unpinned') return false
  if (issueId === null || tables.retiredIssues.has(issueId)) return false
  return repositoryId === null || !tables.head(boardHead({ repositoryId, kind: 'issue' })).retired
}
