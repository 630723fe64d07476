import { plainRows } from '../query.ts'
import type { HostTransaction } from './host-transaction.ts'
import type { Runner, ServerRules } from './server.ts'

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
