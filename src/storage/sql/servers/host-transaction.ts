import type { SqlValue } from '../query.ts'
import { plainRows } from '../query.ts'
import type { Runner, ServerRules } from './server.ts'

/**
 * An open transaction of the host in any library, for `withTransaction` on PostgreSQL or MariaDB. The host's
 * `beforeCommit` receives the same object. `T` is the transaction of the library.
 */
export interface HostTransaction<T extends object = object> {
  /** The transaction of the library. Calls with the same one take turns. */
  readonly identity: T
  /**
   * Runs one statement in the transaction, and returns its rows as objects; an empty list if it returns none.
   * @param sql - with the places of the database: `$1` on PostgreSQL, `?` on MariaDB
   * @throws the error of the driver, or an error that has it as `cause`; TypeError if the transaction has ended
   */
  run(sql: string, parameters: readonly SqlValue[]): Promise<readonly unknown[]>
}

/** Returns whether a value is a transaction of another library. */
export function isHostTransaction(value: object): value is HostTransaction {
  return 'run' in value && typeof value.run === 'function' && 'identity' in value
}

/** Runs statements in a transaction of another library, one after the other. */
export function runnerIn(
  transaction: HostTransaction,
  textOf: ServerRules['textOf'],
  whose: 'own' | 'host' = 'host',
): Runner {
  return {
    identity: transaction.identity,
    async run(statements, refuse) {
      const answers: (readonly unknown[])[] = []
      for (const statement of statements) {
        refuse?.()
        const rows = await transaction.run(textOf(statement, whose), statement.parameters)
        answers.push(statement.returnsRows ? plainRows(rows) : [])
      }
      return answers
    },
  }
}
