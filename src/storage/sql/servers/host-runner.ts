import type { Statement } from '../query.ts'
import { plainRows } from '../query.ts'
import type { HostTransaction } from './host-transaction.ts'
import type { Runner } from './server.ts'

/** Runs statements in a transaction of another library, one after the other. */
export function runnerIn(transaction: HostTransaction, textOf: (statement: Statement<unknown>) => string): Runner {
  return {
    identity: transaction.identity,
    async run(statements, refuse) {
      const answers: (readonly unknown[])[] = []
      for (const statement of statements) {
        refuse?.()
        const rows = await transaction.run(textOf(statement), statement.parameters)
        answers.push(statement.returnsRows ? plainRows(rows) : [])
      }
      return answers
    },
  }
}
