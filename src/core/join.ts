import type { ForgeEvent } from '../schema/events.ts'
import { isPromise, runNow, wait } from '../schema/steps.ts'
import type { OpenCall } from './call.ts'
import type { Environment } from './environment.ts'
import type { Announcer } from './events/announcer.ts'
import type { Joined } from './forge.ts'
import type { Actor } from './ports.ts'
import type { ServiceRooms } from './service-rooms.ts'
import type { JoinedServices, Synchronous } from './services.ts'

/** What a join works with. */
export interface JoinParts<A extends Actor, Tx> {
  readonly environment: Environment<A, Tx>
  readonly announcer: Announcer
  readonly rooms: ServiceRooms<A, Tx>
}

/**
 * Runs work on the services inside the host's open, synchronous transaction. Source: docs/storage.md, section 3.
 *
 * @throws TypeError, ForgeError `STORAGE_BUSY` as `forge.joinSync` tells
 */
export function joinSync<T, A extends Actor, Tx>(
  { environment, announcer, rooms }: JoinParts<A, Tx>,
  transaction: Tx,
  work: (forge: Synchronous<JoinedServices<A>>) => T,
): Joined<T> {
  const { storage } = environment
  if (storage.transactions !== 'synchronous') {
    throw new TypeError('joinSync needs a storage with synchronous transactions, such as sqliteStorage')
  }
  runNow(wait(storage.enter(transaction)))

  const written: ForgeEvent[] = []
  let open = true
  const openCall: OpenCall<A, Tx> = (actor, options) => {
    if (!open) throw new TypeError('joinSync is over: its services cannot be used any more')
    return {
      actor,
      signal: options?.signal,
      transaction,
      guarded: true,
      announce: (events) => written.push(...events),
    }
  }

  try {
    const value = work(rooms.now(openCall))
    refusePromise(value)
    return { value, afterCommit: () => announceCommitted(environment, announcer, written.splice(0)) }
  } finally {
    open = false
  }
}

function refusePromise(value: unknown): void {
  if (!isPromise(value)) return

  value.catch(() => undefined)
  throw new TypeError('the work of joinSync answered with a promise: it must be done when it returns')
}

function announceCommitted<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  announcer: Announcer,
  written: readonly ForgeEvent[],
): void {
  if (written.length === 0) return

  const committed = runNow(wait(environment.storage.events.committed(written.map((event) => event.id))))
  announcer.announce(written.filter((event) => committed.has(event.id)))
}
