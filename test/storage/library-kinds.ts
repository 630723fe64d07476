import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import { PrismaPg } from '@prisma/adapter-pg'
import type { SQL } from 'drizzle-orm'
import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnMysql2 } from 'drizzle-orm/mysql2'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import knex from 'knex'
import type { Transaction } from 'kysely'
import { createPool } from 'mysql2/promise'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { DrizzleTransaction, HostTransaction } from '../../src/storage/storage.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPrisma } from '../../src/storage/storage.ts'
import type { DatabaseKind, Level, OnServer, ServerKind, TestServer } from '../databases.ts'
import { kind, MARIADB, POSTGRES } from '../databases.ts'
import type { HostTables } from './client-kinds.ts'
import { heldOpen, hostPool, mariadbKysely, postgresKysely } from './client-kinds.ts'
import { prismaClientClass } from './prisma-client.ts'

/** A library of the host, open on one database. */
interface OpenLibrary {
  /** Wraps the database itself, which is no transaction. Types refuse that, but for Prisma's, and JavaScript does not. */
  mistaken(): HostTransaction
  /** Runs work in a transaction, and commits it; rolls back if the work rejects. */
  transaction<T>(level: Level | undefined, work: (transaction: HostTransaction) => Promise<T>): Promise<T>
  close(): Promise<unknown>
}

type OpenOn = (url: string) => OpenLibrary

type Below = 'postgres' | 'mysql'

const BELOW: Readonly<Record<Below, ServerKind>> = { postgres: POSTGRES, mysql: MARIADB }

/** The level as SQL has it. */
const LEVELS = { snapshot: 'repeatable read', 'read committed': 'read committed' } as const

const kyselyOn =
  (below: Below): OpenOn =>
  (url) => {
    const database = below === 'postgres' ? postgresKysely(url) : mariadbKysely(url)
    return {
      mistaken: () => fromKysely(database as unknown as Transaction<HostTables>),
      transaction(level, work) {
        const builder = database.transaction()
        const begun = level === undefined ? builder : builder.setIsolationLevel(LEVELS[level])
        return begun.execute((transaction) => work(fromKysely(transaction)))
      },
      close: () => database.destroy(),
    }
  }

const drizzleOn =
  (below: Below): OpenOn =>
  (url) => {
    const config = (level: Level | undefined) => (level === undefined ? undefined : { isolationLevel: LEVELS[level] })
    if (below === 'postgres') {
      const pool = hostPool(url)
      const database = drizzleOnPg(pool)
      return {
        mistaken: () => fromDrizzle(database as unknown as DrizzleTransaction<SQL>, sql),
        transaction: (level, work) => database.transaction((open) => work(fromDrizzle(open, sql)), config(level)),
        close: () => pool.end(),
      }
    }
    const pool = createPool({ uri: url, connectionLimit: 20 })
    const database = drizzleOnMysql2(pool)
    return {
      mistaken: () => fromDrizzle(database as unknown as DrizzleTransaction<SQL>, sql),
      transaction: (level, work) => database.transaction((open) => work(fromDrizzle(open, sql)), config(level)),
      close: () => pool.end(),
    }
  }

const knexOn =
  (below: Below): OpenOn =>
  (url) => {
    const client = below === 'postgres' ? 'pg' : 'mysql2'
    const database = knex({ client, connection: url, pool: { min: 0, max: 20 } })
    return {
      mistaken: () => fromKnex(database as Knex.Transaction),
      transaction: (level, work) =>
        database.transaction(
          (open) => work(fromKnex(open)),
          level === undefined ? {} : { isolationLevel: LEVELS[level] },
        ),
      close: () => database.destroy(),
    }
  }

/** Ends a transaction after five seconds if its host does not say otherwise: the calls on it may take as long. */
const TIMES = { maxWait: 10_000, timeout: 30_000 }

const PRISMA_LEVELS = { snapshot: 'RepeatableRead', 'read committed': 'ReadCommitted' } as const

const prismaOn =
  (below: Below): OpenOn =>
  (url) => {
    const Client = prismaClientClass(below === 'postgres' ? 'postgresql' : 'mysql')
    const mariadb = url.replace(/^mysql:/, 'mariadb:')
    const adapter = below === 'postgres' ? new PrismaPg({ connectionString: url, max: 20 }) : new PrismaMariaDb(mariadb)
    const client = new Client({ adapter })
    return {
      mistaken: () => fromPrisma(client),
      transaction: (level, work) =>
        client.$transaction(
          (open: Parameters<typeof fromPrisma>[0]) => work(fromPrisma(open)),
          level === undefined ? TIMES : { ...TIMES, isolationLevel: PRISMA_LEVELS[level] },
        ),
      close: () => client.$disconnect(),
    }
  }

/** The databases of a kind, whose host writes through a library beside a storage that has its own connections. */
function through(library: string, below: Below, openLibrary: OpenOn): OnServer<HostTransaction> {
  return kind<HostTransaction, DatabaseKind<HostTransaction> & { readonly server: TestServer }>({
    ...BELOW[below],
    name: `${library} on ${BELOW[below].name}`,
    async open(url) {
      const host = await BELOW[below].open(url)
      const opened = openLibrary(url)
      return {
        storage: (options) =>
          below === 'postgres'
            ? postgresStorage<HostTransaction>(url, options)
            : mariadbStorage<HostTransaction>(url, options),
        connect: async () => ({ transaction: opened.mistaken(), run: host.run, end: () => undefined }),
        async begin(level) {
          const begun = await heldOpen<HostTransaction>({ execute: (work) => opened.transaction(level, work) })
          const run = async (text: string) => {
            const rows = await begun.transaction.run(text, [])
            return rows.map((row) => Object.fromEntries(Object.entries(Object(row))))
          }
          return { ...begun, run }
        },
        run: host.run,
        async end() {
          await opened.close()
          await host.end()
        },
      }
    },
  })
}

const OPEN = { Kysely: kyselyOn, Drizzle: drizzleOn, Knex: knexOn, Prisma: prismaOn }

/** Each library on each server. */
export const LIBRARIES: readonly OnServer<HostTransaction>[] = Object.entries(OPEN).flatMap(([library, on]) => [
  through(library, 'postgres', on('postgres')),
  through(library, 'mysql', on('mysql')),
])
