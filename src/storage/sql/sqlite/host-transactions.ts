import { closedError, isForgeError } from '../../../schema/errors.ts'
import { busy } from '../errors.ts'
import type { Statement } from '../query.ts'
import { Connection } from './connection.ts'
import type { SqliteDatabase } from './database.ts'
import { occupied, saysNoSavepoint } from './errors.ts'
import type { SqliteHandle } from './handle.ts'
import { isHandle } from './handle.ts'
import type { Ending } from './transactions.ts'
import { execDespiteOpenStatements, inSavepoint, isInTransaction, transactionOn } from './transactions.ts'

/** The host's own transactions, in which the storage writes: no BEGIN, no COMMIT, one savepoint for each operation. */
export class HostTransactions<H extends SqliteHandle> {
  readonly #database: SqliteDatabase<H>
  readonly #writeLock: Statement<unknown>
  readonly #known = new WeakMap<H, Connection>()
  readonly #stuck = new WeakSet<H>()
  #running = false

  /** @param writeLock - takes the write lock and changes nothing */
  constructor(database: SqliteDatabase<H>, writeLock: Statement<unknown>) {
    this.#database = database
    this.#writeLock = writeLock
  }

  /** Whether a change is running in one: a call made now comes from inside it. */
  get running(): boolean {
    return this.#running
  }

  /**
   * Takes the write lock of an open transaction.
   * @throws TypeError if the transaction is invalid; ForgeError `STORAGE_BUSY` if another writer holds the lock,
   * `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  checkTransaction(transaction: H): void {
    const connection = this.reach(transaction)
    refuseUnlessOpen(transaction)
    connection.all(this.#writeLock)
  }

  /** Runs work in an open transaction, all or nothing. @throws the reason of a signal that has aborted */
  write<T>(transaction: H, work: (connection: Connection) => T, signal: AbortSignal | undefined): T {
    const connection = this.reach(transaction)
    refuseUnlessOpen(transaction)
    signal?.throwIfAborted()
    const ending = this.#run(connection, work)
    if (ending.ok) return ending.value
    if (ending.left === 'kept' || isTakenBack(transaction)) throw ending.error

    this.#stuck.add(transaction)
    mark(connection)
    throw cannotBeTakenBack(ending.error)
  }

  /**
   * Returns the connection of a host's handle.
   * @throws TypeError if it is not a handle, is on another database, or holds a failed change that could not be rolled
   * back
   */
  reach(transaction: H): Connection {
    this.#database.refuseClosing()
    const known = this.#known.get(transaction)
    if (known !== undefined) return this.#unlessStuck(transaction, known)
    if (!isHandle(transaction)) throw new TypeError('the transaction must be an open SQLite handle')
    if (!this.#includes(transaction)) throw new TypeError('the transaction is on another database than the storage')

    const connection = new Connection(transaction, 'host-transaction', 'host')
    this.#known.set(transaction, connection)
    return connection
  }

  #run<T>(connection: Connection, work: (connection: Connection) => T): Ending<T> {
    this.#running = true
    try {
      return inSavepoint(connection, () => work(connection))
    } finally {
      this.#running = false
    }
  }

  #unlessStuck(transaction: H, connection: Connection): Connection {
    if (!this.#stuck.has(transaction)) return connection
    if (isMarked(connection)) throw cannotBeTakenBack()

    this.#stuck.delete(transaction)
    return connection
  }

  #includes(transaction: H): boolean {
    try {
      return this.#database.connect().includes(transaction)
    } catch (error) {
      throw isForgeError(error, 'STORAGE_BUSY') ? busy('host-transaction', error) : error
    }
  }
}

/** On a handle that is occupied inside a transaction, the first statement is refused. */
function refuseUnlessOpen(transaction: SqliteHandle): void {
  if (isInTransaction(transaction)) return
  const state = transactionOn(transaction)
  if (state === 'none') throw new TypeError('the handle is not inside a transaction: open one with .immediate()')
  if (state === 'closed') throw closedError('the handle is closed')
  if (state === 'unknown') throw occupied()
}

/** Returns whether nothing is left of a change whose savepoint could not be rolled back as usual. */
function isTakenBack(transaction: SqliteHandle): boolean {
  const state = transactionOn(transaction)
  if (state !== 'unknown') return state !== 'open'
  return execDespiteOpenStatements(transaction, 'rollback to forgelet; release forgelet') === 'done'
}

/** Sets a savepoint that distinguishes the transaction with a failed change from the next transaction on the handle. */
function mark(connection: Connection): void {
  try {
    connection.command('savepoint forgelet')
  } catch {
    // Nothing can run on the handle now, and the savepoint of the change still exists.
  }
}

function isMarked(connection: Connection): boolean {
  try {
    connection.command('release forgelet')
  } catch (error) {
    return !saysNoSavepoint(error) && !isForgeError(error, 'STORAGE_UNAVAILABLE')
  }
  mark(connection)
  return true
}

function cannotBeTakenBack(cause?: unknown): TypeError {
  const message = 'a change failed in this transaction and could not be undone: roll the transaction back'
  return new TypeError(message, { cause })
}
