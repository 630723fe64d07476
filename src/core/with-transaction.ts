import { need } from '../schema/arguments.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import type { ForgeEvent } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { abandon, isPromise, promiseTry, runMaybeAsync, runSync, wait } from '../schema/sync-or-async.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type { AsyncScope, Environment, OpenTransaction, Sync, SyncScope } from './call.ts'
import { Call } from './call.ts'
import type { Listeners } from './events/listeners.ts'
import type { TransactionResult } from './forge.ts'
import type { Actor } from './ports.ts'
import type { TransactionServices } from './services.ts'
import { servicesIn } from './services.ts'

/** What `withTransaction` and `withTransactionSync` need from the forge. */
interface TransactionParts {
  readonly environment: Environment
  readonly listeners: Listeners
  /** Leaves out the services that the forge does not have. */
  readonly chosen: <T extends object>(services: T) => T
}

const CALLERS = {
  asynchronous: { caller: 'withTransaction', example: 'postgresStorage' },
  synchronous: { caller: 'withTransactionSync', example: 'sqliteStorage' },
} as const

function refuseOthers(found: ForgeStorage<never>['transactions'], needed: keyof typeof CALLERS, work: unknown): void {
  const { caller, example } = CALLERS[needed]
  need(typeof work === 'function', caller, 'work', 'a function of the services')
  if (found === needed) return

  const instead = found === 'none' ? '' : `; this one has ${found} transactions: use ${CALLERS[found].caller}`
  throw new TypeError(`${caller} needs a storage with ${needed} transactions, such as ${example}${instead}`)
}

/**
 * Runs `work` with the services inside the host's open transaction on an asynchronous connection.
 * Source: docs/storage.md, section 3.
 *
 * @throws TypeError, ForgeError `STORAGE_BUSY` as documented at `Forge.withTransaction`
 */
export async function withTransaction<T>(
  { environment, listeners, chosen }: TransactionParts,
  transaction: OpenTransaction,
  work: (forge: TransactionServices<Actor>) => Promise<T>,
): Promise<TransactionResult<T>> {
  const { storage, beforeCommit } = environment
  refuseOthers(storage.transactions, 'asynchronous', work)
  await storage.checkTransaction(transaction)

  const written: ForgeEvent[] = []
  const calls = new TransactionCalls(() => storage.checkTransaction(transaction))
  const scope: AsyncScope = {
    environment,
    transaction,
    mayWait: true,
    guarded: true,
    beforeCommit: beforeCommit && ((events, open) => calls.follow(beforeCommit(events, open))),
    announce: (events) => void written.push(...events),
    run: (actor, options, steps) => calls.perform(() => runMaybeAsync(steps(new Call(actor, transaction, options)))),
  }

  const services = chosen(servicesIn(scope))
  const value = await calls.during(async () => work(services))
  return { value, afterCommit: () => listeners.emit(written.splice(0)) }
}

/**
 * The calls inside one `withTransaction`. Once the transaction is lost, every later call fails: the database may have
 * ended the transaction, and later changes would be committed without the earlier ones.
 */
class TransactionCalls {
  readonly #running = new Set<Promise<unknown>>()
  readonly #whenFree: () => MaybePromise<void>
  #hostCode = 0
  #isOutlived = false
  #lost: ForgeError | undefined
  #over = false

  /** @param whenFree - resolves when nothing runs in the transaction, or rejects after five seconds */
  constructor(whenFree: () => MaybePromise<void>) {
    this.#whenFree = whenFree
  }

  /** Follows a `beforeCommit`: an interrupted call is answered while it still runs. */
  async follow(hostCode: MaybePromise<void>): Promise<void> {
    this.#hostCode += 1
    try {
      await hostCode
    } finally {
      this.#hostCode -= 1
    }
  }

  /** Runs one call. */
  async perform<T>(work: () => MaybePromise<T>): Promise<T> {
    if (this.#over) throw new TypeError('withTransaction has ended: its services can no longer be used')
    if (this.#lost !== undefined) throw lostBefore(this.#lost)

    const call = promiseTry(work)
    this.#running.add(call)
    try {
      return await call
    } catch (error) {
      if (losesTransaction(error)) this.#lost = error
      if (this.#hostCode > 0) this.#isOutlived = true
      throw error
    } finally {
      this.#running.delete(call)
    }
  }

  /**
   * Runs the work that makes the calls, and resolves after the last call has ended, and the `beforeCommit` of an
   * interrupted call too: the host commits next, or rolls back and uses its connection for something else.
   *
   * @throws ForgeError when the transaction was lost, even if the work caught that error, because the host must not
   * commit
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work()
      await this.#settled()
      if (this.#lost !== undefined) throw this.#lost
      return value
    } finally {
      this.#over = true
      await this.#settled().catch(() => undefined)
    }
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    if (!this.#isOutlived) return

    this.#isOutlived = false
    await this.#whenFree()
  }
}

function losesTransaction(error: unknown): error is ForgeError {
  if (isForgeError(error, 'STORAGE_BUSY')) return error.details.retry === 'host-transaction'
  return isForgeError(error, 'STORAGE_UNAVAILABLE')
}

function lostBefore(cause: ForgeError): ForgeError<'STORAGE_BUSY'> {
  const message = 'an earlier call lost the transaction: roll it back and run it again'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' }, { cause })
}

/**
 * Runs `work` with the services inside the host's open synchronous transaction. Source: docs/storage.md, section 3.
 *
 * @throws TypeError, ForgeError `STORAGE_BUSY` as documented at `Forge.withTransactionSync`
 */
export function withTransactionSync<T>(
  { environment, listeners, chosen }: TransactionParts,
  transaction: OpenTransaction,
  work: (forge: Sync<TransactionServices<Actor>>) => T,
): TransactionResult<T> {
  const { storage, beforeCommit } = environment
  refuseOthers(storage.transactions, 'synchronous', work)
  runSync(wait(storage.checkTransaction(transaction)))

  const written: ForgeEvent[] = []
  let open = true
  const scope: SyncScope = {
    environment,
    transaction,
    mayWait: false,
    guarded: true,
    beforeCommit,
    announce: (events) => void written.push(...events),
    run(actor, options, steps) {
      if (!open) throw new TypeError('withTransactionSync has ended: its services can no longer be used')
      return runSync(steps(new Call(actor, transaction, options)))
    },
  }

  try {
    const value = work(chosen(servicesIn(scope)))
    if (isPromise(value)) {
      abandon(value)
      throw new TypeError('the work of withTransactionSync returned a promise: it must be synchronous')
    }
    return { value, afterCommit: () => listeners.emit(written.splice(0)) }
  } finally {
    open = false
  }
}
