import { need } from '../../schema/arguments.ts'
import { openCalls } from '../call.ts'
import type { Joined } from '../forge.ts'
import type { Actor } from '../ports.ts'
import type { JoinedServices } from '../services.ts'
import { CommittedEvents } from './committed-events.ts'
import type { JoinParts } from './join-parts.ts'
import { JoinedCalls } from './joined-calls.ts'

/**
 * Runs work on the services inside the host's open transaction on a connection that answers later. Source:
 * docs/storage.md, section 3.
 *
 * @throws TypeError, ForgeError `STORAGE_BUSY` as `forge.join` tells
 */
export async function join<T, A extends Actor, Tx>(
  { environment, announcer, rooms }: JoinParts<A, Tx>,
  transaction: Tx,
  work: (forge: JoinedServices<A>) => Promise<T>,
): Promise<Joined<T>> {
  need(typeof work === 'function', 'join', 'work', 'a function of the services')
  const { storage, beforeCommit } = environment
  if (storage.transactions === 'synchronous') {
    throw new TypeError('join cannot wait inside a synchronous transaction: use joinSync')
  }
  if (storage.transactions === 'none') {
    throw new TypeError('join needs a storage with transactions, such as postgresStorage')
  }
  await storage.enter(transaction)

  const events = new CommittedEvents(environment, announcer)
  const calls = new JoinedCalls()
  const openCall = openCalls<A, Tx>({
    transaction,
    guarded: true,
    beforeCommit,
    announce: (written) => events.add(written),
  })

  const joined = rooms.later(openCall, (steps) => calls.perform(steps))
  const value = await calls.during(async () => work(joined))
  return { value, afterCommit: () => events.announce() }
}
