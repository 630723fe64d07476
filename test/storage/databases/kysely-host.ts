import type { HostTransaction } from '../../../src/testing/testing.ts'

/** What begins a transaction, in any version of Kysely. */
export interface TransactionBuilder<Tx> {
  execute<T>(work: (transaction: Tx) => Promise<T>): Promise<T>
}

/** A transaction that stays open until its host ends it, where Kysely ends it with the work. */
export function heldOpen<Tx>(builder: TransactionBuilder<Tx>): Promise<HostTransaction<Tx>> {
  const rolledBack = new Error('rolled back')
  return new Promise((begun, failed) => {
    const ended = builder.execute(
      (transaction) =>
        new Promise<void>((commit, rollBack) => {
          begun({
            transaction,
            async commit() {
              commit()
              await ended
            },
            async rollback() {
              rollBack(rolledBack)
              await ended.catch((error: unknown) => {
                if (error !== rolledBack) throw error
              })
            },
          })
        }),
    )
    ended.catch(failed)
  })
}
