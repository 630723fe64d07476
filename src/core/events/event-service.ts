import { isObject, needObject, toInteger } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { OptionRules } from '../../schema/options.ts'
import { ANY, checkOptions } from '../../schema/options.ts'
import type { CursorPage, PageRequest } from '../../schema/paging.ts'
import { isValidDate } from '../../schema/realms.ts'
import type { ForgeEvent, ForgeEventType } from '../../schema/records.ts'
import { checkText } from '../../schema/text.ts'
import type { EventFilter } from '../../storage/contract/events.ts'
import type { Environment } from '../call.ts'
import { copyPageRequest, toLimit, toPageQuery } from '../page-query.ts'
import type { Listeners } from './listeners.ts'
import type { ConsumerPace, EventHandler, RunningConsumers } from './outbox-consumer.ts'
import { consumeOutbox, WakeUp } from './outbox-consumer.ts'

const DEFAULT_READ_LIMIT = 100
const MAX_NAME_LENGTH = 64
const DEFAULT_LEASE_MS = 30_000
const DEFAULT_POLL_MS = 1000
const MAX_TIME_MS = 3_600_000

/** Which events the audit view shows. A property that is undefined does not filter. */
export interface EventListFilter {
  readonly organizationId?: IdInput | undefined
  readonly repositoryId?: IdInput | undefined
  readonly userId?: IdInput | undefined
  readonly actorId?: IdInput | undefined
  readonly types?: readonly ForgeEventType[] | undefined
}

/** Options of `events.consume`. */
export interface ConsumeOptions {
  /** Stops the consumer. A batch that is being handled is finished first. */
  readonly signal: AbortSignal
  /**
   * The duration of the lease, in milliseconds: another process takes over when the lease was not renewed for this
   * long. The lease is renewed while the handler runs. Default 30,000.
   */
  readonly leaseMilliseconds?: number | undefined
  /**
   * How often to poll for events of other processes, in milliseconds. Events of this process are noticed immediately.
   * Default 1,000.
   */
  readonly pollMilliseconds?: number | undefined
  /** The maximum number of events in a batch: 1 to 1,000. Default 100. */
  readonly batch?: number | undefined
}

/**
 * Events: listen to them, read or consume the outbox, and list the audit view. The policy is not asked: this service is
 * for the host's own code.
 */
export interface EventService {
  /**
   * Adds a listener for the events of this process. Listeners are called after the commit. All listeners get the events
   * in the same order, even when a listener makes a change. A listener that throws or rejects is logged, and the others
   * are still called.
   * @returns a function that removes the listener
   */
  on(listener: (event: ForgeEvent) => unknown): () => void
  /**
   * Reads the outbox: the committed events of all processes, in order and at least once. An event can be read once it
   * has a number.
   * @param query - `after`: the opaque cursor of an earlier result, default: the oldest event that is kept; `limit`: 1
   * to 1,000, default 100
   * @throws ForgeError `INVALID_INPUT` if the cursor is invalid; `EVENTS_PRUNED` if events after the cursor were pruned;
   * `CURSOR_AHEAD` if the cursor is beyond the last event, because the database was restored from an older state
   */
  read(query?: {
    readonly after?: string | undefined
    readonly limit?: number | undefined
  }): Promise<{ readonly events: readonly ForgeEvent[]; readonly cursor: string }>
  /**
   * Consumes the outbox as a named consumer, whose cursor is stored. The handler gets every event in order and at least
   * once. However many processes consume under the same name, only one gets events at a time. While the storage is busy
   * or unavailable, the consumer waits. The promise resolves when the signal aborts or the forge closes.
   * Source: docs/storage.md, section 5.
   *
   * @param name - 1 to 64 characters; a new consumer starts at the beginning of the outbox
   * @throws TypeError without a name, a handler or a signal; ForgeError for a permanent failure of the storage:
   * `STORAGE_UNAVAILABLE` when the forge is closed, or when other code closed its storage; `CURSOR_AHEAD` when the
   * database was restored from an older state meanwhile: call it again, and it goes on with the stored cursor
   */
  consume(name: string, handler: EventHandler, options: ConsumeOptions): Promise<void>
  /**
   * Deletes a consumer and its cursor. Delete abandoned consumers, because `prune` keeps every event that a consumer
   * has not read.
   * @returns false when no consumer has this name
   */
  forget(name: string): Promise<boolean>
  /** Lists the audit view, newest event first. @throws ForgeError `INVALID_INPUT` if the page request is invalid */
  list(filter: EventListFilter, page?: PageRequest): Promise<CursorPage<ForgeEvent>>
  /**
   * Removes old events that every consumer has already handled. Pin and unpin events of issues that were not deleted
   * are kept, because they are the history of the issue. Removed events disappear from the audit view.
   *
   * @param options - `before`: only events that were created before this time are removed
   * @returns the number of removed events
   */
  prune(options: { readonly before: Date }): Promise<number>
}

/** Creates the event service of a forge, with its listeners and its consumers in this process. */
export function eventService(
  { storage: { events }, logger, newId }: Environment,
  listeners: Listeners,
  consumers: RunningConsumers,
): EventService {
  return {
    on: (listener) => listeners.on(listener),
    read: async (query = {}) => {
      needObject(query, 'query', '{ after: cursor, limit: 100 }')
      const { after, limit = DEFAULT_READ_LIMIT } = query
      return events.read({ after, limit: toLimit(limit) })
    },
    list: async (filter, page) => events.list(toFilter(filter), toPageQuery(copyPageRequest(page))),
    consume: async (name, handler, options) => {
      const consumer = { name: toConsumerName(name), holder: newId() }
      if (typeof handler !== 'function') throw new TypeError('the handler of events must be a function')
      checkOptions('consume', options, OPTIONS)
      const pace = toPace(options)
      const wakeUp = new WakeUp()
      const stopListening = listeners.on(() => wakeUp.notify())
      try {
        const parts = { events, consumer, handler, pace, wakeUp, logger }
        await consumers.run(consumer.name, options.signal, (stop) => consumeOutbox(parts, stop))
      } finally {
        stopListening()
      }
    },
    forget: async (name) => events.forget(toConsumerName(name)),
    prune: async (options) => events.prune(toTime(options?.before)),
  }
}

const OPTIONS: OptionRules<ConsumeOptions> = {
  signal: [(value) => isObject(value) && 'aborted' in value, 'an AbortSignal: aborting it stops the consumer'],
  leaseMilliseconds: ANY,
  pollMilliseconds: ANY,
  batch: ANY,
}

function toTime(before: Date | undefined): Date {
  if (isValidDate(before)) return new Date(before)
  throw new TypeError('prune needs { before }: before must be a valid Date')
}

function toPace({ leaseMilliseconds, pollMilliseconds, batch }: ConsumeOptions): ConsumerPace {
  return {
    leaseMilliseconds: toInteger(leaseMilliseconds ?? DEFAULT_LEASE_MS, 'leaseMilliseconds', 1, MAX_TIME_MS),
    pollMilliseconds: toInteger(pollMilliseconds ?? DEFAULT_POLL_MS, 'pollMilliseconds', 1, MAX_TIME_MS),
    batch: toLimit(batch ?? DEFAULT_READ_LIMIT),
  }
}

function toConsumerName(name: string): string {
  if (typeof name !== 'string' || name === '') throw new TypeError('the name of a consumer must be a non-empty string')
  checkText('name', name, MAX_NAME_LENGTH)
  return name
}

/** Accepts types that this version does not know, because a newer version may have written such events. */
function toTypes(types: readonly ForgeEventType[]): readonly ForgeEventType[] {
  if (!Array.isArray(types)) throw new TypeError('filter.types must be an array of event types')
  for (const [index, type] of types.entries()) checkText(`types/${index}`, type, MAX_NAME_LENGTH)
  return [...types]
}

function toFilter(filter: EventListFilter): EventFilter {
  needObject(filter, 'filter', '{ userId: 9 }')
  const { organizationId, repositoryId, userId, actorId, types } = filter
  return {
    organizationId: organizationId === undefined ? undefined : toId(organizationId, 'filter.organizationId'),
    repositoryId: repositoryId === undefined ? undefined : toId(repositoryId, 'filter.repositoryId'),
    userId: userId === undefined ? undefined : toId(userId, 'filter.userId'),
    actorId: actorId === undefined ? undefined : toId(actorId, 'filter.actorId'),
    types: types === undefined ? undefined : toTypes(types),
  }
}
