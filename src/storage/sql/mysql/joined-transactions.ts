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
 * The host's transactions. A deadlock ends the whole of one, and on a connection that commits nothing by itself the next
 * statement silently begins another: so who has lost his transaction is remembered until he has ended it himself.
 */
export class JoinedTransactions<C extends MysqlConnection> {
  readonly #lost = new WeakSet<object>()

  /** @throws TypeError when it is no connection of mysql2's promises */
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
   * @param database - that of the storage; undefined before that is known
   * @throws TypeError when no transaction is open there; ForgeError `STORAGE_BUSY` when it has been lost
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

  /** A savepoint tells what is left of the transaction from the next one on the connection. */
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
