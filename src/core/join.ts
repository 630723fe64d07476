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
    return { value, afterCommit: () => announceCommitted(environment, announcer, written) }
  } finally {
    open = false
  }
}

function refusePromise(value: unknown): void {
  if (!isPromise(value)) return

  Promise.resolve(value).catch(() => undefined)
  throw new TypeError('the work of joinSync answered with a promise: it must be done when it returns')
}

/** Announces what is found committed and not yet announced; the rest may be asked about again. */
function announceCommitted<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  announcer: Announcer,
  written: ForgeEvent[],
): void {
  if (written.length === 0) return

  try {
    const found = environment.storage.events.committed(written.map((event) => event.id))
    if (isPromise(found)) found.then((stored) => announce(announcer, written, stored), lost)
    else announce(announcer, written, found)
  } catch (error) {
    lost(error)
  }

  function lost(error: unknown): void {
    announcer.lost(error)
  }
}

function announce(announcer: Announcer, written: ForgeEvent[], stored: readonly ForgeEvent[]): void {
  const committed = written.filter((event) => stored.some((other) => isSame(event, other)))
  for (const event of committed) written.splice(written.indexOf(event), 1)
  announcer.announce(committed)
}

/** The id alone does not tell: after a rollback another event may have been given it. */
function isSame(one: ForgeEvent, other: ForgeEvent): boolean {
  return essence(one) === essence(other)
}

function essence(event: ForgeEvent): string {
  const { id, type, version, at, actorId, organizationId, repositoryId, issueId, userId, data } = event
  const named = Object.entries(data).sort(([left], [right]) => (left < right ? -1 : 1))
  return JSON.stringify([id, type, version, at, actorId, organizationId, repositoryId, issueId, userId, named])
}
