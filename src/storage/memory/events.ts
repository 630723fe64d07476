import { cursorAhead, eventsPruned, invalidCursor } from '../../schema/errors.ts'
import type { ForgeEvent } from '../../schema/records.ts'
import type { Consumer, EventFilter, EventStore } from '../contract/events.ts'
import { copyOf } from './copy.ts'
import { cursorOf, cutPage, sortKeyIn } from './pages.ts'
import type { Memory } from './tables.ts'

/** The position up to which a consumer has processed events, and who holds its name until when, in milliseconds since 1970. */
interface Lease {
  readonly position: number
  readonly holder: string | undefined
  readonly until: number
}

/** Creates the events of a memory storage. The id of an event is its position. */
export function memoryEvents(memory: Memory): EventStore<undefined> {
  const { events } = memory
  const consumers = new Map<string, Lease>()
  /** The last pruned position of the outbox. */
  let oldest = 0

  /** Refuses the cursor of another storage. */
  function refuseAhead(position: number): void {
    const newest = Math.max(oldest, ...events.rows.slice(-1).map(idOf))
    if (position > newest) throw cursorAhead(cursorOf(newest))
  }

  /** Returns the lease if the holder still has it. */
  function leaseOf({ name, holder }: Consumer): Lease | undefined {
    memory.refuseClosed()
    const lease = consumers.get(name)
    return lease?.holder === holder && lease.until > Date.now() ? lease : undefined
  }

  return {
    read({ after, limit }) {
      const start = after === undefined ? oldest : positionIn(after)
      if (start < oldest) throw eventsPruned(cursorOf(oldest))

      refuseAhead(start)
      const found = events.rows.filter((event) => idOf(event) > start).slice(0, limit)
      const last = found.at(-1)
      return { events: copyOf(found), cursor: cursorOf(last === undefined ? start : idOf(last)) }
    },

    list(filter, query) {
      const matching = events.rows.filter((event) => matches(event, filter)).reverse()
      const { total: _, ...page } = cutPage(matching, (event) => [-idOf(event), ''], query)
      return page
    },

    history: (issueId) => copyOf(events.rows.filter(isPinning).filter((event) => event.issueId === issueId)),

    claim({ name, holder }, milliseconds) {
      memory.refuseClosed()
      const known = consumers.get(name)
      const now = Date.now()
      if (known?.holder !== undefined && known.holder !== holder && known.until > now) return undefined

      const position = known?.position ?? oldest
      consumers.set(name, { position, holder, until: now + milliseconds })
      return { cursor: cursorOf(position) }
    },

    advance(consumer, cursor) {
      const position = positionIn(cursor)
      const lease = leaseOf(consumer)
      if (lease === undefined) return false

      refuseAhead(position)
      consumers.set(consumer.name, { ...lease, position: Math.max(lease.position, position) })
      return true
    },

    release(consumer) {
      const lease = leaseOf(consumer)
      if (lease !== undefined) consumers.set(consumer.name, { ...lease, holder: undefined })
    },

    forget(name) {
      memory.refuseClosed()
      return consumers.delete(name)
    },

    prune(before) {
      const behindAll = Math.min(...[...consumers.values()].map(({ position }) => position))
      const goes = (event: ForgeEvent): boolean =>
        idOf(event) <= behindAll && event.at.getTime() < before.getTime() && !isLivingHistory(memory, event)
      const removed = events.rows.filter(goes)
      events.replace(events.rows.filter((event) => !goes(event)))
      oldest = Math.max(oldest, ...removed.slice(-1).map(idOf))
      return removed.length
    },
  }
}

function idOf({ id }: ForgeEvent): number {
  return Number(id)
}

function matches(event: ForgeEvent, { types, ...ids }: EventFilter): boolean {
  const isAbout = SUBJECTS.every((field) => ids[field] === undefined || ids[field] === event[field])
  return isAbout && (types === undefined || types.includes(event.type))
}

const SUBJECTS = ['organizationId', 'repositoryId', 'userId', 'actorId'] as const

function isPinning(event: ForgeEvent): event is ForgeEvent<'issue.pinned' | 'issue.unpinned'> {
  return event.type === 'issue.pinned' || event.type === 'issue.unpinned'
}

/** Pins and unpins of an issue that is not retired, nor its repository, are shown as its history. */
function isLivingHistory(memory: Memory, event: ForgeEvent): boolean {
  const { issueId, repositoryId } = event
  if (!isPinning(event) || issueId === null || repositoryId === null) return false
  return !memory.isRetired('issue', issueId) && !memory.isRetired('repository', repositoryId)
}

/** Positions count upwards from zero. A cursor of the audit view counts backwards and is not valid for the outbox. */
function positionIn(cursor: string): number {
  const [position] = sortKeyIn(cursor)
  if (position >= 0) return position
  throw invalidCursor()
}
