import { ForgeError, invalidInput } from '../../schema/errors.ts'
import type { ForgeEvent } from '../../schema/records.ts'
import type { Consumer, EventFilter, EventStore } from '../contract/events.ts'
import type { Lease, Memory } from './tables.ts'
import { copyEvent, cursorOf, cutPage, placeIn } from './tables.ts'

/** Creates the events of a memory storage. The id of an event is its place. */
export function memoryEvents(memory: Memory): EventStore<undefined> {
  /** Returns the lease if the holder still has it. */
  function leaseOf({ name, holder }: Consumer): Lease | undefined {
    const lease = memory.tables.consumers.get(name)
    return lease?.holder === holder && lease.until > Date.now() ? lease : undefined
  }

  return {
    read({ after, limit }) {
      const { oldest, events } = memory.tables
      const start = after === undefined ? oldest : placeInOutbox(after)
      if (start < oldest) throw pruned(oldest)

      const found = events.filter((event) => idOf(event) > start).slice(0, limit)
      const last = found.at(-1)
      return { events: found.map(copyEvent), cursor: cursorOf(last === undefined ? start : idOf(last)) }
    },

    list(filter, query) {
      const matching = memory.tables.events.filter((event) => matches(event, filter)).reverse()
      const { items, limit, cursor } = cutPage(matching, (event) => [-idOf(event), ''], query)
      return { items: items.map(copyEvent), limit, cursor }
    },

    history: (issueId) =>
      memory.tables.events
        .filter((event) => event.issueId === issueId)
        .flatMap((event) => (isPinning(event) ? [copyEvent(event)] : [])),

    claim({ name, holder }, milliseconds) {
      const { consumers, oldest } = memory.tables
      const known = consumers.get(name)
      const now = Date.now()
      if (known?.holder !== undefined && known.holder !== holder && known.until > now) return undefined

      const place = known?.place ?? oldest
      consumers.set(name, { place, holder, until: now + milliseconds })
      return { cursor: cursorOf(place) }
    },

    advance(consumer, cursor) {
      const place = placeInOutbox(cursor)
      const lease = leaseOf(consumer)
      if (lease === undefined) return false

      memory.tables.consumers.set(consumer.name, { ...lease, place: Math.max(lease.place, place) })
      return true
    },

    release(consumer) {
      const lease = leaseOf(consumer)
      if (lease !== undefined) memory.tables.consumers.set(consumer.name, { ...lease, holder: undefined })
    },

    forget: (name) => memory.tables.consumers.delete(name),

    prune(before) {
      const { tables } = memory
      const behindAll = Math.min(...[...tables.consumers.values()].map(({ place }) => place))
      const goes = (event: ForgeEvent): boolean =>
        idOf(event) <= behindAll && event.at.getTime() < before.getTime() && !isLivingHistory(memory, event)
      const removed = tables.events.filter(goes)
      tables.events = tables.events.filter((event) => !goes(event))
      tables.oldest = Math.max(tables.oldest, ...removed.slice(-1).map(idOf))
      return removed.length
    },
  }
}

function idOf({ id }: ForgeEvent): number {
  return Number(id)
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

/** Pins and unpins of an issue that is not retired, nor its repository, are shown as its history. */
function isLivingHistory({ tables: { retired } }: Memory, event: ForgeEvent): boolean {
  if (!isPinning(event)) return false
  return !retired.has(`issue ${event.issueId}`) && !retired.has(`repository ${event.repositoryId}`)
}

/** Places count upwards from zero. A cursor of the audit view counts backwards and is not valid for the outbox. */
function placeInOutbox(cursor: string): number {
  const [place] = placeIn(cursor)
  if (place >= 0) return place
  throw invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}

function pruned(oldest: number): ForgeError<'EVENTS_PRUNED'> {
  const message = 'events after this cursor have been pruned: continue from the cursor in details.oldest'
  return new ForgeError('EVENTS_PRUNED', message, { oldest: cursorOf(oldest) })
}
