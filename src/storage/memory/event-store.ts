import type { ForgeEvent } from '../../schema/events.ts'
import type { EventFilter, EventStore } from '../contract/event-store.ts'
import { copyEvent } from './copies.ts'
import type { MemoryTables } from './memory-tables.ts'
import { memoryOutbox } from './outbox.ts'
import { cutPage } from './pages.ts'

/** The events of a memory storage; an event's id is its place. */
export function memoryEvents(tables: MemoryTables): EventStore<undefined> {
  return {
    ...memoryOutbox(tables),
    list(filter, query) {
      const found = tables.events.filter((event) => matches(event, filter)).reverse()
      const page = cutPage(found, (event) => -Number(event.id), query)
      return { ...page, items: page.items.map(copyEvent) }
    },
    history: (issueId) =>
      tables.events
        .filter((event) => event.issueId === issueId)
        .flatMap((event) => (isPinning(event) ? [copyEvent(event)] : [])),
    committed: (eventIds) => tables.events.filter((event) => eventIds.includes(event.id)).map(copyEvent),
  }
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
