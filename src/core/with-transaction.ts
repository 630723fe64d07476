import { need } from '../schema/arguments.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import type { ForgeEvent } from '../schema/events.ts'
import type { SyncOrAsync } from '../schema/sync-or-async.ts'
import { isPromise, runAsync, runSync, wait } from '../schema/sync-or-async.ts'
import type { BindServices } from './bind-services.ts'
import type { OpenCall } from './call.ts'
import { openCalls } from './call.ts'
import type { Environment } from './environment.ts'
import type { Listeners } from './events/listeners.ts'
import type { TransactionResult } from './forge.ts'
import type { Actor } from './ports.ts'
import type { Sync, TransactionServices } from './services.ts'

/** What a join works with. */
export interface TransactionParts<A extends Actor, Tx> {
  readonly environment: Environment<A, Tx>
  readonly announcer: Listeners
  readonly bindServices: BindServices<A, Tx>
}

/**
 * Runs work on the services inside the host's open transaction on a connection that answers later. Source:
 * docs/storage.md, section 3.
 *
 * @throws TypeError, ForgeError `STORAGE_BUSY` as `forge.join` tells
 */
export async function withTransaction<T, A extends Actor, Tx>(
  { environment, announcer, bindServices }: TransactionParts<A, Tx>,
  transaction: Tx,
  work: (forge: TransactionServices<A>) => Promise<T>,
): Promise<TransactionResult<T>> {
  need(typeof work === 'function', 'join', 'work', 'a function of the services')
  const { storage, beforeCommit } = environment
  if (storage.transactions === 'synchronous') {
    throw new TypeError('join cannot wait inside a synchronous transaction: use joinSync')
  }
  if (storage.transactions === 'none') {
    throw new TypeError('join needs a storage with transactions, such as postgresStorage')
  }
  await storage.checkTransaction(transaction)

  const events = new CommittedEvents(environment, announcer)
  const calls = new TransactionCalls()
  const openCall = openCalls<A, Tx>({
    transaction,
    guarded: true,
    beforeCommit,
    announce: (written) => events.add(written),
  })

  const joined = bindServices(openCall, (steps) => calls.perform(steps))
  const value = await calls.during(async () => work(joined))
  return { value, afterCommit: () => events.announce() }
}

/**
 * The calls of one join. Once the transaction is lost every later one fails: the database may have ended it, and what came
 * after would be committed alone.
 */
class TransactionCalls {
  readonly #running = new Set<Promise<unknown>>()
  #lost: ForgeError | undefined
  #over = false

  /** Runs the operation of one call. */
  async perform<T>(steps: SyncOrAsync<T>): Promise<T> {
    if (this.#over) throw new TypeError('join is over: its services cannot be used any more')
    if (this.#lost !== undefined) throw lostBefore(this.#lost)

    const call = runAsync(steps)
    this.#running.add(call)
    try {
      return await call
    } catch (error) {
      if (losesTransaction(error)) this.#lost = error
      throw error
    } finally {
      this.#running.delete(call)
    }
  }

  /**
   * Runs the work that makes the calls, and answers once the last of them has ended.
   *
   * @throws ForgeError when the transaction was lost, also where the work kept that to itself: it must not be committed
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work()
      await this.#settled()
      if (this.#lost !== undefined) throw this.#lost
      return value
    } finally {
      this.#over = true
      await this.#settled()
    }
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }
}

function losesTransaction(error: unknown): error is ForgeError {
  if (isForgeError(error, 'STORAGE_BUSY')) return error.details.retry === 'host-transaction'
  return isForgeError(error, 'STORAGE_UNAVAILABLE')
}

function lostBefore(cause: ForgeError): ForgeError<'STORAGE_BUSY'> {
  const message = 'an earlier call of this join lost the transaction: roll it back and run it again'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' }, { cause })
}

/**
 * Runs work on the services inside the host's open, synchronous transaction. Source: docs/storage.md, section 3.
 *
 * @throws TypeError, ForgeError `STORAGE_BUSY` as `forge.joinSync` tells
 */
export function withTransactionSync<T, A extends Actor, Tx>(
  { environment, announcer, bindServices }: TransactionParts<A, Tx>,
  transaction: Tx,
  work: (forge: Sync<TransactionServices<A>>) => T,
): TransactionResult<T> {
  need(typeof work === 'function', 'joinSync', 'work', 'a function of the services')
  const { storage, beforeCommit } = environment
  if (storage.transactions === 'asynchronous') throw new TypeError('joinSync cannot wait for this storage: use join')
  if (storage.transactions !== 'synchronous') {
    throw new TypeError('joinSync needs a storage with synchronous transactions, such as sqliteStorage')
  }
  runSync(wait(storage.checkTransaction(transaction)))

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
    const value = work(bindServices(openCall, runSync))
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

/** The events that a join wrote in the host's transaction: told to listeners once they are found committed. */
class CommittedEvents<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>
  readonly #announcer: Listeners
  readonly #written: ForgeEvent[] = []

  constructor(environment: Environment<A, Tx>, announcer: Listeners) {
    this.#environment = environment
    this.#announcer = announcer
  }

  /** Takes the events of a change. */
  add(events: readonly ForgeEvent[]): void {
    this.#written.push(...events)
  }

  /** Announces what is found committed and not yet announced; the rest may be asked about again. Never throws. */
  announce(): void {
    if (this.#written.length === 0) return

    try {
      const found = this.#environment.storage.events.committed(this.#written.map((event) => event.id))
      if (isPromise(found)) this.#announcer.announceLater(found.then((stored) => this.#take(stored)))
      else this.#announcer.emit(this.#take(found))
    } catch (error) {
      this.#announcer.lost(error)
    }
  }

  /** Removes what is found committed from what was written, and gives it. */
  #take(stored: readonly ForgeEvent[]): readonly ForgeEvent[] {
    const committed = this.#written.filter((event) => stored.some((other) => isSame(event, other)))
    for (const event of committed) this.#written.splice(this.#written.indexOf(event), 1)
    return committed
  }
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
