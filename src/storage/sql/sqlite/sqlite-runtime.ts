import { closedError } from '../../../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { promiseTry, runSync, wait } from '../../../schema/sync-or-async.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { CallLimits } from '../retry.ts'
import { limitedTo, MAX_CALL_MS, retryAfter } from '../retry.ts'
import type { Schema } from '../schema/schema.ts'
import type { Tables } from '../schema/tables.ts'
import type { Session, WriteCircumstances } from '../session.ts'
import type { DatabaseRuntime } from '../stores/ground.ts'
import { Connection, NotUndone } from './connection.ts'
import type { SqliteDatabase } from './database.ts'
import type { SqliteHandle } from './drivers.ts'
import { driverOf } from './drivers.ts'
import { GroupCommit } from './group-commit.ts'
import { isHandle } from './handle.ts'

/**
 * Runs the work of the stores in SQLite: reads synchronously on our reader, changes in batches on our writer, and
 * transactions of the host on the host's handle: no BEGIN, no COMMIT, one savepoint for each change.
 */
export class SqliteRuntime<H extends SqliteHandle> implements DatabaseRuntime<H> {
  readonly #database: SqliteDatabase<H>
  /** Takes the write lock of a host's transaction and changes nothing: SQLite does that before it looks for rows. */
  readonly #writeLock: Statement<unknown>
  readonly #batches: GroupCommit<H>
  readonly #known = new WeakMap<H, Connection>()
  #isChanging = false
  #isClosed = false

  /** @param prefix - of the tables */
  constructor(database: SqliteDatabase<H>, prefix: string) {
    this.#database = database
    this.#writeLock = command(`update "${prefix}${'ledger' satisfies keyof Tables}" set only = only where only < 0`)
    this.#batches = new GroupCommit(database)
  }

  /** Same as the storage's `checkTransaction`. */
  checkTransaction(transaction: H): void {
    this.#refuseInside()
    this.#open(transaction).all(this.#writeLock)
  }

  read<T>(
    work: (session: Session) => MaybePromise<T>,
    transaction: H | undefined,
    limits?: CallLimits,
  ): MaybePromise<T> {
    if (transaction !== undefined) return work(this.#usable(transaction))
    return this.#readPlain(work, limits)
  }

  write<T>(
    work: (session: Session, open: H) => SyncOrAsync<T>,
    { transaction, signal }: WriteCircumstances<H>,
  ): MaybePromise<T> {
    this.#refuseInside()
    if (transaction !== undefined) {
      const connection = this.#open(transaction)
      signal?.throwIfAborted()
      return this.#change(() => connection.atomically(() => runSync(work(connection, transaction))))
    }
    this.#refuseClosed()
    if (this.#isHostInside()) throw new TypeError('the handle is inside a transaction: use withTransactionSync')
    return this.#batches.submit((writer) => runSync(work(writer, writer.handle)), signal)
  }

  async migrate(tables: Schema): Promise<void> {
    await this.retried(() => this.#database.migrate(tables))
  }

  onConnection<T>(work: (session: Session) => MaybePromise<T>, limits?: CallLimits): Promise<T> {
    return promiseTry(() => this.retried(() => this.#database.withReader(work), limits?.milliseconds))
  }

  ofHost<T>(work: (session: Session) => MaybePromise<T>, transaction: H | undefined): MaybePromise<T> {
    if (transaction !== undefined) return work(this.#connectionOf(transaction))
    return this.#database.isUsable ? this.#readPlain(work) : this.retried(() => this.#database.withReader(work))
  }

  inTransaction<T>(work: (transaction: H) => MaybePromise<T>): Promise<T> {
    return promiseTry(() => {
      this.#refuseInside()
      this.#refuseClosed()
      if (this.#isHostInside()) throw new TypeError('the handle is inside a transaction: use it as the transaction')
      return this.#database.transact(({ handle }) => runSync(wait(work(handle))))
    })
  }

  /** Runs work, and repeats it for up to five seconds, or as limited, while others keep the database busy. */
  retried<T>(work: () => MaybePromise<T>, milliseconds: number = MAX_CALL_MS): MaybePromise<T> {
    const attempt = () => {
      this.#refuseClosed()
      return work()
    }
    try {
      return attempt()
    } catch (error) {
      return retryAfter(error, attempt, limitedTo(milliseconds))
    }
  }

  /** Refuses new calls, and closes the database when every change is answered. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#batches.settled()
    this.#database.close()
  }

  #readPlain<T>(work: (session: Session) => MaybePromise<T>, limits?: CallLimits): MaybePromise<T> {
    // On a shared connection, a running batch is not committed yet: read after it.
    if (this.#batches.isRunning && this.#database.isShared) return this.#readLater(work, limits)
    // Nothing is captured here: each read would allocate it, although few are repeated.
    try {
      return this.#readNow(work)
    } catch (error) {
      return this.#readAgain(error, work, limits)
    }
  }

  #readNow<T>(work: (session: Session) => MaybePromise<T>): MaybePromise<T> {
    this.#refuseClosed()
    const reader = this.#database.reader()
    if (this.#database.isShared && this.#isHostInside()) {
      throw new TypeError('the handle is inside a transaction: use withTransactionSync')
    }
    return work(reader)
  }

  #readLater<T>(work: (session: Session) => MaybePromise<T>, limits?: CallLimits): Promise<T> {
    return Promise.resolve().then(() => this.#readPlain(work, limits))
  }

  #readAgain<T>(error: unknown, work: (session: Session) => MaybePromise<T>, limits?: CallLimits): MaybePromise<T> {
    return retryAfter(error, () => this.#readNow(work), limitedTo(limits?.milliseconds ?? MAX_CALL_MS))
  }

  /** Runs a change in the host's transaction. @throws TypeError if it failed and could not be rolled back */
  #change<T>(change: () => T): T {
    this.#isChanging = true
    try {
      return change()
    } catch (error) {
      if (!(error instanceof NotUndone)) throw error
      const message = 'a change failed in this transaction and could not be undone: roll the transaction back'
      throw new TypeError(message, { cause: error.cause })
    } finally {
      this.#isChanging = false
    }
  }

  /** Returns the connection of a host's handle. @throws TypeError if it is not in a transaction */
  #open(transaction: H): Connection {
    const connection = this.#usable(transaction)
    if (connection.isInTransaction()) return connection

    connection.exec('select 1') // a handle that is closed or in use says so
    throw new TypeError('the handle is not inside a transaction: open one with .immediate()')
  }

  /** Returns the connection of a host's handle on a database whose tables can be used. */
  #usable(transaction: H): Connection {
    this.#refuseClosed()
    if (isHandle(transaction)) this.#database.reader()
    return this.#connectionOf(transaction)
  }

  /** Returns the connection of a host's handle. @throws TypeError if it is not a handle, or is on another database */
  #connectionOf(transaction: H): Connection {
    this.#refuseClosed()
    const known = this.#known.get(transaction)
    if (known !== undefined) return known
    if (!isHandle(transaction)) throw new TypeError('the transaction must be an open SQLite handle')
    if (!this.#database.includes(transaction)) {
      throw new TypeError('the transaction is on another database than the storage')
    }

    const connection = new Connection(transaction, 'host-transaction')
    this.#known.set(transaction, connection)
    return connection
  }

  /** A change that is made from inside another would be part of it, or wait for it forever. */
  #refuseInside(): void {
    if (!this.#batches.isRunning && !this.#isChanging) return
    throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw closedError('the storage is closed')
  }

  #isHostInside(): boolean {
    const { hostHandle } = this.#database
    return hostHandle !== undefined && driverOf(hostHandle).isInTransaction()
  }
}
