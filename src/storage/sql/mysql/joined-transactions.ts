import type { Deadline } from '../server/call-deadline.ts'
import { busy } from '../server/failures.ts'
import type { ServerConnection } from '../server/server.ts'
import type { ConnectionFacts } from './connection-facts.ts'
import { factsOf, refuseUnfit } from './connection-facts.ts'
import { endsTransaction, translateError } from './driver-errors.ts'
import { MysqlServerConnection } from './mysql-connection.ts'
import type { MysqlConnection } from './mysql-pool.ts'
import { isConnection, isPool, physical, speaksCallbacks } from './mysql-pool.ts'
import { withSettings } from './statement-settings.ts'

/**
 * The host's transactions. A deadlock ends the whole transaction, and on a connection without autocommit the next
 * statement silently begins another. A lost transaction is therefore remembered until the host has ended it.
 */
export class JoinedTransactions<C extends MysqlConnection> {
  readonly #lost = new WeakSet<object>()

  /** Wraps a host's connection. @throws TypeError if it is not a connection of mysql2/promise */
  connection(transaction: C, deadline: Deadline): ServerConnection<C> {
    if (speaksCallbacks(transaction)) {
      throw new TypeError('the transaction speaks callbacks: hand in `connection.promise()`, or one of mysql2/promise')
    }
    if (isPool(transaction) || !isConnection(transaction)) {
      throw new TypeError('the transaction must be a connection of mysql2/promise, with a transaction open')
    }
    return new MysqlServerConnection(transaction, {
      retry: 'host-transaction',
      deadline,
      prepare: withSettings,
      failed: async (error) => {
        if (endsTransaction(error)) await this.#remember(transaction)
      },
    })
  }

  /**
   * Checks that a transaction is open on the storage's database.
   * @param database - that of the storage; undefined before it is known
   * @throws TypeError if no transaction is open there; ForgeError `STORAGE_BUSY` if it has been lost
   */
  async refuseUnlessOpen(transaction: C, database: string | undefined): Promise<void> {
    const facts = await this.#ask(transaction)
    const found = refuseUnfit(facts)
    if (database !== undefined && database !== found) {
      throw new TypeError('the transaction is on another database than the storage')
    }
    if (await this.#isLost(transaction, facts)) throw busy('host-transaction')
    if (facts.open === 'no' && facts.autocommit === 'yes') {
      throw new TypeError('the connection is not inside a transaction: begin one on it')
    }
  }

  async #ask(transaction: C): Promise<ConnectionFacts> {
    try {
      return await factsOf(transaction)
    } catch (error) {
      throw translateError(error, 'host-transaction')
    }
  }

  /**
   * Sets a savepoint that distinguishes the rest of the lost transaction from the next transaction on the connection.
   */
  async #remember(transaction: C): Promise<void> {
    this.#lost.add(physical(transaction))
    await transaction.query('savepoint forgelet_lost').catch(() => undefined)
  }

  async #isLost(transaction: C, { open, autocommit }: ConnectionFacts): Promise<boolean> {
    if (!this.#lost.has(physical(transaction))) return false
    if (autocommit === 'yes' ? open === 'no' : await isMarked(transaction)) return true

    this.#lost.delete(physical(transaction))
    return false
  }
}

async function isMarked(transaction: MysqlConnection): Promise<boolean> {
  try {
    await transaction.query('rollback to savepoint forgelet_lost')
    return true
  } catch {
    return false
  }
}
