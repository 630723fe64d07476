import type { SQL } from 'drizzle-orm'
import { sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import type { Kysely, Transaction } from 'kysely'
import type { Transaction as Transaction27 } from 'kysely27'
import type { Transaction as Transaction29 } from 'kysely29'
import type { Pool } from 'mysql2/promise'
import { expectTypeOf, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import type { HostTransaction, SqlStorage } from '../../src/storage/storage.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPrisma } from '../../src/storage/storage.ts'

interface HostTables {
  readonly issues: { readonly id: number }
}

/** The client of a transaction as `prisma generate` types it. */
interface PrismaClient {
  $queryRawUnsafe<T = unknown>(
    query: string,
    ...values: unknown[]
  ): Promise<T> & { readonly requestTransaction?: unknown }
}

test('what wraps a transaction keeps its type, for beforeCommit', () => {
  const wrappedKnex = (transaction: Knex.Transaction) => fromKnex(transaction)
  const wrappedPrisma = (transaction: PrismaClient) => fromPrisma(transaction)

  expectTypeOf(fromKysely<Transaction<HostTables>>).returns.toEqualTypeOf<HostTransaction<Transaction<HostTables>>>()
  expectTypeOf(fromKysely<Transaction27<HostTables>>)
    .parameter(0)
    .toEqualTypeOf<Transaction27<HostTables>>()
  expectTypeOf(fromKysely<Transaction29<HostTables>>)
    .parameter(0)
    .toEqualTypeOf<Transaction29<HostTables>>()
  expectTypeOf(wrappedKnex).returns.toEqualTypeOf<HostTransaction<Knex.Transaction>>()
  expectTypeOf(wrappedPrisma).returns.toEqualTypeOf<HostTransaction<PrismaClient>>()
})

test('only a transaction is taken where the types of the library tell it from a database', () => {
  const refused = (kysely: Kysely<HostTables>, drizzle: NodePgDatabase, knex: Knex) => [
    // @ts-expect-error -- a Kysely that is no transaction
    fromKysely(kysely),
    // @ts-expect-error -- a database of Drizzle
    fromDrizzle<NodePgDatabase, SQL>(drizzle, sql),
    // @ts-expect-error -- a Knex that is no transaction
    fromKnex(knex),
  ]

  expectTypeOf(refused).toBeFunction()
})

test('a storage may be for the transactions of one library', () => {
  const storage = (pool: Pool) => mariadbStorage<HostTransaction<Knex.Transaction>>(pool)

  expectTypeOf(storage).returns.toEqualTypeOf<SqlStorage<HostTransaction<Knex.Transaction>>>()
})
