import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { requireValue, runSync } from '../../../schema/sync-or-async.ts'
import { limitedTo, MAX_WAIT_MS, retryAfter } from '../retry.ts'
import type { Session, SqlRuntime, WriteCircumstances } from '../session.ts'
import type { Connections } from './connections.ts'
import type { SqliteDatabase } from './database.ts'
import type { GroupCommit } from './group-commit.ts'
import type { SqliteHandle } from './handle.ts'
import type { HostTransactions } from './host-transactions.ts'
import { inSnapshot, isInTransaction } from './transactions.ts'

/** What a runtime is built from. */
export interface SqliteRuntimeParts<H extends SqliteHandle> {
  readonly database: SqliteDatabase<H>
  readonly batches: GroupCommit
  readonly hostTransactions: HostTransactions<H>
}

/**
 * Runs the work of the stores in SQLite: reads synchronously on our reader, writes in batches on our writer, and
 * transactions of the host on the host's handle.
 */
export class SqliteRuntime<H extends SqliteHandle> implements SqlRuntime<H> {
  readonly seesUncommitted = false
  readonly #database: SqliteDatabase<H>
  readonly #batches: GroupCommit
  readonly #hostTransactions: HostTransactions<H>

  constructor({ database, batches, hostTransactions }: SqliteRuntimeParts<H>) {
    this.#database = database
    this.#batches = batches
    this.#hostTransactions = hostTransactions
  }

  /** Same as the storage's `checkTransaction`. */
  checkTransaction(transaction: H): void {
    this.#refuseInside()
    this.#hostTransactions.checkTransaction(transaction)
  }

  read<T>(work: (session: Session) => MaybePromise<T>, transaction: H | undefined): MaybePromise<T> {
    if (transaction !== undefined) return requireValue(work(this.#hostTransactions.reach(transaction)))

    return this.#readPlain((connections) => {
      this.#refuseUncommitted(connections)
      return requireValue(work(connections.reader))
    })
  }

  readSnapshot<T>(work: (session: Session) => SyncOrAsync<T>, transaction: H | undefined): MaybePromise<T> {
    if (transaction !== undefined) return runSync(work(this.#hostTransactions.reach(transaction)))

    return this.#readPlain((connections) => {
      this.#refuseUncommitted(connections)
      const { reader, shared } = connections
      return shared ? runSync(work(reader)) : inSnapshot(reader, () => runSync(work(reader)))
    })
  }

  write<T>(
    work: (session: Session, open: H) => SyncOrAsync<T>,
    { transaction, signal }: WriteCircumstances<H>,
  ): MaybePromise<T> {
    this.#refuseInside()
    if (transaction !== undefined) {
      return this.#hostTransactions.write(transaction, (connection) => runSync(work(connection, transaction)), signal)
    }
    this.#database.refuseClosing()
    if (this.#hostIsInside()) throw new TypeError('the handle is inside a transaction: use withTransactionSync')

    return this.#batches.submit(() => {
      const { writer, writerHandle } = this.#database.connect()
      return runSync(work(writer, writerHandle))
    }, signal)
  }

  #readPlain<T>(query: (connections: Connections<H>) => T): MaybePromise<T> {
    this.#database.refuseClosing()
    // On a shared connection, a running batch is not committed yet: read after it.
    if (this.#batches.running && this.#database.connect().shared) {
      return Promise.resolve().then(() => this.#readPlain(query))
    }

    try {
      return query(this.#database.connect())
    } catch (error) {
      return retryAfter(error, () => query(this.#database.connect()), limitedTo(MAX_WAIT_MS))
    }
  }

  /** A change that is made from inside another would be part of it, or wait for it forever. */
  #refuseInside(): void {
    if (!this.#batches.running && !this.#hostTransactions.running) return
    throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }

  #refuseUncommitted({ shared }: Connections<H>): void {
    if (shared && this.#hostIsInside())
      throw new TypeError('the handle is inside a transaction: use withTransactionSync')
  }

  #hostIsInside(): boolean {
    const { hostHandle } = this.#database
    return hostHandle !== undefined && isInTransaction(hostHandle)
  }
}
