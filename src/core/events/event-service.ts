import { toId } from '../../schema/ids.ts'
import type { EventFilter } from '../../storage/contract/event-store.ts'
import type { ForgeStorage } from '../../storage/contract/forge-storage.ts'
import { toLimit, toPageQuery } from '../page-query.ts'
import type { EventListFilter, EventService } from '../services.ts'
import type { Announcer } from './announcer.ts'

const DEFAULT_READ_LIMIT = 100

/** The event service over a storage and the listeners of this process. */
export function eventService<Tx>(storage: ForgeStorage<Tx>, announcer: Announcer): EventService {
  return {
    on: (listener) => announcer.on(listener),
    read: async ({ after, limit = DEFAULT_READ_LIMIT } = {}) => storage.events.read({ after, limit: toLimit(limit) }),
    list: async (filter, page) => storage.events.list(toFilter(filter), toPageQuery(page)),
  }
}

function toFilter(filter: EventListFilter): EventFilter {
  const { organizationId, repositoryId, userId, actorId, types } = filter
  return {
    organizationId: organizationId === undefined ? undefined : toId(organizationId, 'filter.organizationId'),
    repositoryId: repositoryId === undefined ? undefined : toId(repositoryId, 'filter.repositoryId'),
    userId: userId === undefined ? undefined : toId(userId, 'filter.userId'),
    actorId: actorId === undefined ? undefined : toId(actorId, 'filter.actorId'),
    types,
  }
}
