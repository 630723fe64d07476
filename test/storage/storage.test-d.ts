import type Database from 'better-sqlite3'
import type { SQL } from 'drizzle-orm'
import { sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import type { Generated, Kysely, Transaction } from 'kysely'
import type { Kysely as Kysely27, Transaction as Transaction27 } from 'kysely27'
import type { Kysely as Kysely29, Transaction as Transaction29 } from 'kysely29'
import type { Connection, Pool, PoolConnection } from 'mysql2/promise'
import type pg from 'pg'
import { expectTypeOf, test } from 'vitest'
import type { Actor, Forge, ForgeEvent } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { DurableObjectDatabase } from '../../src/storage/durable-object.ts'
import { durableObjectStorage } from '../../src/storage/durable-object.ts'
import type { MysqlConnection, MysqlPool } from '../../src/storage/mariadb.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import type { PgClient, PgPool } from '../../src/storage/postgres.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { SqliteHandle } from '../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { HostPortsOf, HostTransaction, SqlStorage, HostTables as Tables } from '../../src/storage/storage.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPrisma, inTransaction } from '../../src/storage/storage.ts'

interface HostTables {
  readonly issues: { readonly id: Generated<number>; readonly title: string }
}

/** As node:sqlite declares its handles, as far as we call them. */
declare class DatabaseSync {
  constructor(path: string, options?: { readonly open?: boolean })
  prepare(sql: string): {
    all(
      named: Record<string, null | number | bigint | string | Uint8Array>,
      ...anonymous: (null | number | bigint | string | Uint8Array)[]
    ): unknown[]
    all(...anonymous: (null | number | bigint | string | Uint8Array)[]): unknown[]
    get(...anonymous: (null | number | bigint | string | Uint8Array)[]): unknown
    run(...anonymous: (null | number | bigint | string | Uint8Array)[]): { changes: number | bigint }
  }
  exec(sql: string): void
}

/** As Cloudflare declares it, as far as we call it. */
interface DurableObjectStorage {
  get<T = unknown>(key: string): Promise<T | undefined>
  sql: {
    exec<T extends Record<string, ArrayBuffer | string | number | null>>(
      query: string,
      ...bindings: unknown[]
    ): { toArray(): T[] }
  }
  transactionSync<T>(closure: () => T): T
}

/** The client of a transaction as `prisma generate` types it. */
interface PrismaClient {
  $queryRawUnsafe<T = unknown>(
    query: string,
    ...values: unknown[]
  ): Promise<T> & { readonly requestTransaction?: unknown }
}

/** What a storage takes for a transaction of the host. */
type Entered<Open extends (...given: never[]) => { checkTransaction(transaction: never): unknown }> = Parameters<
  ReturnType<Open>['checkTransaction']
>[0]

declare const kysely: Kysely<HostTables>
declare const transaction: Transaction<HostTables>

test('what the drivers have is what a storage takes', () => {
  expectTypeOf<pg.Pool>().toExtend<PgPool>()
  expectTypeOf<pg.Client>().toExtend<PgClient>()
  expectTypeOf<pg.PoolClient>().toExtend<PgClient>()
  expectTypeOf<pg.Client>().not.toExtend<PgPool>()
  expectTypeOf<Pool>().toExtend<MysqlPool>()
  expectTypeOf<Connection>().toExtend<MysqlConnection>()
  expectTypeOf<PoolConnection>().toExtend<MysqlConnection>()
  expectTypeOf<{ query(sql: string): Promise<unknown> }>().not.toExtend<MysqlConnection>()
  expectTypeOf<Database.Database>().toExtend<SqliteHandle>()
  expectTypeOf<DatabaseSync>().toExtend<SqliteHandle>()
  expectTypeOf<{ prepare(sql: string): unknown }>().not.toExtend<SqliteHandle>()
  expectTypeOf<DurableObjectStorage>().toExtend<DurableObjectDatabase>()
  expectTypeOf<Omit<DurableObjectStorage, 'sql'>>().not.toExtend<DurableObjectDatabase>()

  // @ts-expect-error: a number is no pool
  mariadbStorage(7)
  // @ts-expect-error: a number is no pool
  postgresStorage(7)
  // @ts-expect-error: a client is no pool
  ;(client: pg.Client) => postgresStorage(client)
  // @ts-expect-error: a number is no handle
  sqliteStorage(7)
  // @ts-expect-error: MariaDB has databases, and no schemas
  mariadbStorage(kysely, { schema: 'forge' })
})

test('the transaction of the host is what it names, or what its driver has', () => {
  const named = (pool: pg.Pool) => postgresStorage<pg.PoolClient>(pool)
  const unnamed = (pool: pg.Pool) => postgresStorage(pool)
  const namedMysql = (pool: Pool) => mariadbStorage<PoolConnection>(pool)
  const unnamedMysql = (pool: Pool) => mariadbStorage(pool)
  const ofHandle = (handle: Database.Database) => sqliteStorage(handle)
  const ofObject = (storage: DurableObjectStorage) => durableObjectStorage(storage)
  const ofLibrary = (pool: Pool) => mariadbStorage<HostTransaction<Knex.Transaction>>(pool)

  expectTypeOf<Entered<typeof named>>().toEqualTypeOf<pg.PoolClient>()
  expectTypeOf<Entered<typeof unnamed>>().not.toEqualTypeOf<pg.PoolClient>()
  expectTypeOf<Entered<typeof namedMysql>>().toEqualTypeOf<PoolConnection>()
  expectTypeOf<Entered<typeof unnamedMysql>>().toEqualTypeOf<MysqlConnection | HostTransaction>()
  expectTypeOf<Entered<typeof ofHandle>>().toEqualTypeOf<Database.Database>()
  expectTypeOf<Entered<typeof ofObject>>().toEqualTypeOf<DurableObjectStorage>()
  expectTypeOf(ofLibrary).returns.toEqualTypeOf<SqlStorage<HostTransaction<Knex.Transaction>>>()
})

test('the transactions of a storage are those of its Kysely, of any version, whatever tables that knows', () => {
  const untyped = (any: Kysely<Record<string, Record<string, unknown>>>) => mariadbStorage(any)
  const open27 = (old: Kysely27<HostTables>) => mariadbStorage(old)
  const open29 = (recent: Kysely29<HostTables>) => postgresStorage(recent)
  const portsOf = (tables: Tables): HostPortsOf<Kysely<HostTables>, Tables> => postgresStorage(kysely, { tables }).host

  expectTypeOf(postgresStorage(kysely, { schema: 'forge' })).toEqualTypeOf<SqlStorage<Kysely<HostTables>>>()
  expectTypeOf(untyped).returns.toEqualTypeOf<SqlStorage<Kysely<Record<string, Record<string, unknown>>>>>()
  expectTypeOf(open27).returns.toEqualTypeOf<SqlStorage<Kysely27<HostTables>>>()
  expectTypeOf(open29).returns.toEqualTypeOf<SqlStorage<Kysely29<HostTables>>>()
  expectTypeOf(portsOf).toBeFunction()
})

test('a forge runs in a transaction of the Kysely, and gives one to what the host runs there', () => {
  const forge = createForge({
    storage: postgresStorage(kysely),
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
    beforeCommit(events, inside) {
      expectTypeOf(events).toEqualTypeOf<readonly ForgeEvent[]>()
      expectTypeOf(inside).toEqualTypeOf<Kysely<HostTables>>()
    },
  })
  const actor: Actor = { id: 1 }
  const call = () =>
    forge.withTransaction(transaction, ({ pins }) => pins.pin(actor, { id: 1, repositoryId: 2, kind: 'issue' }))

  expectTypeOf(call).returns.resolves.toHaveProperty('afterCommit')
})

test('what wraps a transaction keeps its type, and takes no database', () => {
  const wrappedKnex = (open: Knex.Transaction) => fromKnex(open)
  const wrappedPrisma = (open: PrismaClient) => fromPrisma(open)
  const refused = (drizzle: NodePgDatabase, knex: Knex) => [
    // @ts-expect-error -- a Kysely that is no transaction
    fromKysely(kysely),
    // @ts-expect-error -- a database of Drizzle
    fromDrizzle<NodePgDatabase, SQL>(drizzle, sql),
    // @ts-expect-error -- a Knex that is no transaction
    fromKnex(knex),
  ]

  expectTypeOf(fromKysely<Transaction<HostTables>>).returns.toEqualTypeOf<HostTransaction<Transaction<HostTables>>>()
  expectTypeOf(fromKysely<Transaction27<HostTables>>)
    .parameter(0)
    .toEqualTypeOf<Transaction27<HostTables>>()
  expectTypeOf(fromKysely<Transaction29<HostTables>>)
    .parameter(0)
    .toEqualTypeOf<Transaction29<HostTables>>()
  expectTypeOf(wrappedKnex).returns.toEqualTypeOf<HostTransaction<Knex.Transaction>>()
  expectTypeOf(wrappedPrisma).returns.toEqualTypeOf<HostTransaction<PrismaClient>>()
  expectTypeOf(refused).toBeFunction()
})

test('the work of inTransaction is given the transaction of the library', () => {
  const begun = (forge: Forge<Actor, HostTransaction>, knex: Knex, database: NodePgDatabase) => [
    inTransaction(forge, kysely, async ({ pins }, open) => {
      expectTypeOf(open).toEqualTypeOf<Transaction<HostTables>>()
      return pins.list('system', { repositoryId: 1, kind: 'issue' })
    }),
    inTransaction(forge, knex, async (_services, open) => {
      expectTypeOf(open).toExtend<Knex.Transaction>()
    }),
    inTransaction(forge, { database, sql }, async (_services, open) => {
      expectTypeOf(open).toExtend<Pick<NodePgDatabase, 'insert'>>()
    }),
    // @ts-expect-error -- no library
    inTransaction(forge, { begin: 1 }, async () => 1),
  ]

  expectTypeOf(begun).toBeFunction()
})
