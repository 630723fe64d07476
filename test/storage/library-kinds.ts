import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import { PrismaPg } from '@prisma/adapter-pg'
import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnMysql2 } from 'drizzle-orm/mysql2'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { createPool } from 'mysql2/promise'
import { beginIn } from '../../src/storage/sql/servers/library-transaction.ts'
import type { ForgeStorage, HostTransaction } from '../../src/storage/storage.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPrisma } from '../../src/storage/storage.ts'
import type { DatabaseKind, OnServer, ServerKind, TestServer } from '../databases.ts'
import { kind, MARIADB, POSTGRES } from '../databases.ts'
import { heldOpen, hostPool, mariadbKysely, postgresKysely } from './client-kinds.ts'
import type { TakenLibrary } from './in-library-suite.ts'
import { prismaClientClass } from './prisma-client.ts'

type OnKind = readonly [library: string, below: ServerKind, open: (url: string) => TakenLibrary]

/** The libraries of a host, on each server. */
export const LIBRARIES: readonly OnKind[] = [
  ['Kysely', POSTGRES, (url) => kysely(postgresKysely(url))],
  ['Kysely', MARIADB, (url) => kysely(mariadbKysely(url))],
  ['Knex', POSTGRES, (url) => knexOf(url, 'pg')],
  ['Knex', MARIADB, (url) => knexOf(url, 'mysql2')],
  [
    'Drizzle',
    POSTGRES,
    (url) => {
      const pool = hostPool(url)
      return drizzle(drizzleOnPg(pool), () => pool.end())
    },
  ],
  [
    'Drizzle',
    MARIADB,
    (url) => {
      const pool = createPool({ uri: url, connectionLimit: 20 })
      return drizzle(drizzleOnMysql2(pool), () => pool.end())
    },
  ],
  [
    'Prisma',
    POSTGRES,
    (url) =>
      prisma(new (prismaClientClass('postgresql'))({ adapter: new PrismaPg({ connectionString: url, max: 20 }) })),
  ],
  [
    'Prisma',
    MARIADB,
    (url) =>
      prisma(new (prismaClientClass('mysql'))({ adapter: new PrismaMariaDb(url.replace(/^mysql:/, 'mariadb:')) })),
  ],
]

function kysely(library: ReturnType<typeof postgresKysely>): TakenLibrary {
  return { library, wrap: fromKysely, outside: library, close: () => library.destroy() }
}

function knexOf(connection: string, client: string): TakenLibrary {
  const library = knex({ client, connection, pool: { min: 0, max: 20 } })
  return { library, wrap: fromKnex, outside: library, close: () => library.destroy() }
}

function drizzle(database: object, close: () => Promise<unknown>): TakenLibrary {
  return { library: { database, sql }, wrap: (one) => fromDrizzle(one, sql), outside: database, close }
}

function prisma(library: InstanceType<ReturnType<typeof prismaClientClass>>): TakenLibrary {
  return { library, wrap: fromPrisma, outside: library, close: () => library.$disconnect() }
}

/** The databases of a kind, whose host writes through a library beside a storage that has its own connections. */
export function throughLibrary([name, below, openLibrary]: OnKind): OnServer<HostTransaction> {
  return kind<HostTransaction, DatabaseKind<HostTransaction> & { readonly server: TestServer }>({
    ...below,
    name: `${name} on ${below.name}`,
    async open(url) {
      const host = await below.open(url)
      const { library, wrap, outside, close } = openLibrary(url)
      return {
        storage: (options) => host.storage(options) as ForgeStorage<HostTransaction>, // of a library too
        connect: async () => ({ transaction: wrap(outside as never), run: host.run, end: () => undefined }),
        async begin(level = below === MARIADB ? 'snapshot' : 'read committed') {
          const isolation = level === 'snapshot' ? 'repeatable read' : level
          const begun = await heldOpen<HostTransaction>({ execute: beginIn(library, { isolation }) })
          const run = async (text: string) => {
            const rows = await begun.transaction.run(text, [])
            return rows.map((row) => Object.fromEntries(Object.entries(Object(row))))
          }
          return { ...begun, run }
        },
        run: host.run,
        async end() {
          await close()
          await host.end()
        },
      }
    },
  })
}
