import { sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import type { Kysely, Transaction } from 'kysely'
import { expectTypeOf, test } from 'vitest'
import type { Actor, Forge } from '../../src/index.ts'
import type { HostTransaction } from '../../src/storage/storage.ts'
import { inTransaction } from '../../src/storage/storage.ts'

interface HostTables {
  readonly issues: { readonly id: number }
}

test('the work is given the transaction of the library', () => {
  const begun = (
    forge: Forge<Actor, HostTransaction>,
    kysely: Kysely<HostTables>,
    knex: Knex,
    database: NodePgDatabase,
  ) => [
    inTransaction(forge, kysely, async ({ pins }, transaction) => {
      expectTypeOf(transaction).toEqualTypeOf<Transaction<HostTables>>()
      return pins.list('system', { repositoryId: 1, kind: 'issue' })
    }),
    inTransaction(forge, knex, async (_services, transaction) => {
      expectTypeOf(transaction).toExtend<Knex.Transaction>()
    }),
    inTransaction(forge, { database, sql }, async (_services, transaction) => {
      expectTypeOf(transaction).toExtend<Pick<NodePgDatabase, 'insert'>>()
    }),
    // @ts-expect-error -- no library
    inTransaction(forge, { begin: 1 }, async () => 1),
  ]

  expectTypeOf(begun).toBeFunction()
})
