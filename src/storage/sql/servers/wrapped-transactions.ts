import { need, propertyOf } from '../../../schema/arguments.ts'
import { rowsOrNone } from './host-transaction.ts'
import type { HostTransaction } from './libraries.ts'
import type { Runner } from './server.ts'

/**
 * The connections of a storage as transactions of the host's library. The calls on a wrapped one take turns with those
 * of the storage, so it stays known which connection it is.
 */
export class WrappedTransactions<C extends object> {
  readonly #open: ((connection: C) => object) | undefined
  readonly #wrapped = new WeakMap<object, C>()

  constructor(open: ((connection: C) => object) | undefined) {
    this.#open = open
  }

  /** Refuses the option `transaction` for connections of another library. @throws TypeError */
  refuse(caller: string, pool: string): void {
    need(this.#open === undefined, caller, 'transaction', `left out, or the storage made over ${pool}`)
  }

  /** Returns what ports and `beforeCommit` receive for a connection. */
  wrap(connection: C, runner: Runner): object {
    if (this.#open === undefined) return connection
    const identity = this.#open(connection)
    this.#wrapped.set(identity, connection)
    return {
      identity,
      run: async (sql, values) => rowsOrNone(await runner.run(sql, values)),
    } satisfies HostTransaction
  }

  /** Returns the connection of a wrapped transaction; other transactions as they are. */
  unwrap(transaction: object): object {
    return this.#wrapped.get(Object(propertyOf(transaction, 'identity'))) ?? transaction
  }
}
