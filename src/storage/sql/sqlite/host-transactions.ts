import { isForgeError } from '../../../schema/errors.ts'
import type { Statement } from '../query.ts'
import { Connection } from './connection.ts'
import { busy } from './driver-errors.ts'
import type { SqliteHandle } from './handle.ts'
import { isHandle } from './handle.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { inSavepoint, transactionOn } from './transactions.ts'

/** The host's own transactions, which we write in: no BEGIN, no COMMIT, a savepoint for each operation. */
export class HostTransactions<H extends SqliteHandle> {
  readonly #database: SqliteDatabase<H>
  readonly #writeLock: Statement<unknown>
  readonly #known = new WeakMap<H, Connection>()

  /** @param writeLock - takes the write lock and changes nothing */
  constructor(database: SqliteDatabase<H>, writeLock: Statement<unknown>) {
    this.#database = database
    this.#writeLock = writeLock
  }

  /**
   * Takes the write lock of an open transaction.
   * @throws TypeError when it is none; ForgeError `STORAGE_BUSY` when another writer holds the lock, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  enter(transaction: H): void {
    const connection = this.reach(transaction)
    refuseUnlessOpen(transaction)
    connection.all(this.#writeLock)
  }

  /** Runs work in an open transaction, all or nothing. @throws the reason of a signal that has aborted */
  write<T>(transaction: H, work: (connection: Connection) => T, signal: AbortSignal | undefined): T {
    const connection = this.reach(transaction)
    refuseUnlessOpen(transaction)
    signal?.throwIfAborted()
    const ending = inSavepoint(connection, () => work(connection))
    if (ending.ok) return ending.value
    throw ending.error
  }

  /** The connection of a host's handle. @throws TypeError when it is none, or on another database */
  reach(transaction: H): Connection {
    this.#database.refuseClosing()
    const known = this.#known.get(transaction)
    if (known !== undefined) return known
    if (!isHandle(transaction)) throw new TypeError('the transaction must be an open SQLite handle')
    if (!this.#includes(transaction)) throw new TypeError('the transaction is on another database than the storage')

    const connection = new Connection(transaction, 'host-transaction')
    this.#known.set(transaction, connection)
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

function refuseUnlessOpen(transaction: SqliteHandle): void {
  const state = transactionOn(transaction)
  if (state === 'none') throw new TypeError('the handle is not inside a transaction: open one with .immediate()')
  if (state === 'unknown') throw new TypeError('the handle is busy with another statement: end it first')
}
