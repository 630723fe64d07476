import { need } from '../../schema/arguments.ts'
import { isPromise, runNow, wait } from '../../schema/steps.ts'
import type { OpenCall } from '../call.ts'
import { openCalls } from '../call.ts'
import type { Joined } from '../forge.ts'
import type { Actor } from '../ports.ts'
import type { JoinedServices, Synchronous } from '../services.ts'
import { CommittedEvents } from './committed-events.ts'
import type { JoinParts } from './join-parts.ts'

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
  need(typeof work === 'function', 'joinSync', 'work', 'a function of the services')
  const { storage, beforeCommit } = environment
  if (storage.transactions === 'asynchronous') throw new TypeError('joinSync cannot wait for this storage: use join')
  if (storage.transactions !== 'synchronous') {
    throw new TypeError('joinSync needs a storage with synchronous transactions, such as sqliteStorage')
  }
  runNow(wait(storage.enter(transaction)))

  const events = new CommittedEvents(environment, announcer)
  let open = true
  const openInside = openCalls<A, Tx>({
    transaction,
    guarded: true,
    beforeCommit,
    announce: (written) => events.add(written),
  })
  const openCall: OpenCall<A, Tx> = (actor, options) => {
    if (!open) throw new TypeError('joinSync is over: its services cannot be used any more')
    return openInside(actor, options)
  }

  try {
    const value = work(rooms.now(openCall))
    refusePromise(value)
    return { value, afterCommit: () => events.announce() }
  } finally {
    open = false
  }
}

function refusePromise(value: unknown): void {
  if (!isPromise(value)) return

  Promise.resolve(value).catch(() => undefined)
  throw new TypeError('the work of joinSync answered with a promise: it must be done when it returns')
}
