import { needObject } from '../../schema/arguments.ts'
import type { ForgeEventType } from '../../schema/events.ts'
import { toId } from '../../schema/ids.ts'
import { checkText } from '../../schema/text.ts'
import type { EventFilter } from '../../storage/contract/events.ts'
import type { Environment } from '../environment.ts'
import { toLimit, toPageQuery } from '../page-query.ts'
import type { Actor } from '../ports.ts'
import type { ConsumeOptions, EventHandler, EventListFilter, EventService } from '../services.ts'
import type { Listeners } from './listeners.ts'
import type { ConsumerPace, RunningConsumers } from './outbox-consumer.ts'
import { OutboxConsumer } from './outbox-consumer.ts'
import { WakeUp } from './wake-up.ts'

const DEFAULT_READ_LIMIT = 100
const MAX_NAME_LENGTH = 64
const DEFAULT_LEASE_MS = 30_000
const DEFAULT_POLL_MS = 1000
const MAX_TIME_MS = 3_600_000

/** What the event service needs besides the environment: the listeners and the consumers of this forge. */
export interface EventParts {
  readonly listeners: Listeners
  readonly consumers: RunningConsumers
}

/** Creates the event service from a storage and the listeners of this process. */
export function eventService<A extends Actor, Tx>(environment: Environment<A, Tx>, parts: EventParts): EventService {
  const { events } = environment.storage

  return {
    on: (listener) => parts.listeners.on(listener),
    read: async (query = {}) => {
      needObject(query, 'query', '{ after: cursor, limit: 100 }')
      const { after, limit = DEFAULT_READ_LIMIT } = query
      return events.read({ after, limit: toLimit(limit) })
    },
    list: async (filter, page) => events.list(toFilter(filter), toPageQuery(page)),
    consume: async (name, handler, options) => consume(environment, parts, { name, handler, options }),
    forget: async (name) => events.forget(toConsumerName(name)),
    prune: async (options) => events.prune(toTime(options?.before)),
  }
}

interface Consumption {
  readonly name: string
  readonly handler: EventHandler
  readonly options: ConsumeOptions
}

async function consume<A extends Actor, Tx>(
  { storage, logger, newId }: Environment<A, Tx>,
  { listeners, consumers }: EventParts,
  { name, handler, options }: Consumption,
): Promise<void> {
  const consumer = { name: toConsumerName(name), holder: newId() }
  if (typeof handler !== 'function') throw new TypeError('the handler of events must be a function')
  const { signal } = options ?? {}
  if (typeof signal?.throwIfAborted !== 'function')
    throw new TypeError('consume needs { signal }: it ends when that aborts')

  const pace = toPace(options)
  const wakeUp = new WakeUp()
  const stopListening = listeners.on(() => wakeUp.notify())
  try {
    const outbox = new OutboxConsumer({ events: storage.events, consumer, handler, pace, wakeUp, logger })
    await consumers.run(consumer.name, signal, (stop) => outbox.run(stop))
  } finally {
    stopListening()
  }
}

function toTime(before: Date | undefined): Date {
  if (before instanceof Date && !Number.isNaN(before.getTime())) return before
  throw new TypeError('prune needs { before }: before must be a valid Date')
}

function toPace({ leaseMilliseconds, pollMilliseconds, batch }: ConsumeOptions): ConsumerPace {
  return {
    leaseMilliseconds: milliseconds('leaseMilliseconds', leaseMilliseconds ?? DEFAULT_LEASE_MS),
    pollMilliseconds: milliseconds('pollMilliseconds', pollMilliseconds ?? DEFAULT_POLL_MS),
    batch: toLimit(batch ?? DEFAULT_READ_LIMIT),
  }
}

function milliseconds(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= MAX_TIME_MS) return value
  throw new TypeError(`${name} must be an integer from 1 to ${MAX_TIME_MS}`)
}

function toConsumerName(name: string): string {
  if (typeof name !== 'string' || name === '') throw new TypeError('a consumer needs a name')
  checkText('name', name, MAX_NAME_LENGTH)
  return name
}

/** Accepts types that this version does not know, because a newer version may have written such events. */
function toTypes(types: readonly ForgeEventType[]): readonly ForgeEventType[] {
  if (!Array.isArray(types)) throw new TypeError('filter.types must be an array of event types')
  for (const [index, type] of types.entries()) checkText(`types/${index}`, type, MAX_NAME_LENGTH)
  return types
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
