import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import { PrismaPg } from '@prisma/adapter-pg'
import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnMysql2 } from 'drizzle-orm/mysql2'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import type { PoolConnection } from 'mysql2/promise'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { describe } from 'vitest'
import { inTransaction as inMariadb } from '../../src/storage/mariadb.ts'
import { inTransaction as inPostgres } from '../../src/storage/postgres.ts'
import type { HostTransaction } from '../../src/storage/storage.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPrisma } from '../../src/storage/storage.ts'
import type { ServerKind } from '../databases.ts'
import { MARIADB, onServer, POSTGRES } from '../databases.ts'
import { hostPool, mariadbKysely, postgresKysely } from './client-kinds.ts'
import type { BeginningLibrary, TakenLibrary } from './in-library-suite.ts'
import { inLibrary } from './in-library-suite.ts'
import { prismaClientClass } from './prisma-client.ts'

const LIBRARIES: readonly (readonly [string, ServerKind, (url: string) => TakenLibrary])[] = [
  [
    'pg',
    POSTGRES,
    (url) => {
      const library = hostPool(url)
      const wrap = (one: pg.PoolClient): HostTransaction => ({
        identity: one,
        run: async (text, values) => (await one.query(text, [...values])).rows,
      })
      return { library, inTransaction: inPostgres, wrap, outside: library, close: () => library.end() }
    },
  ],
  [
    'mysql2',
    MARIADB,
    (url) => {
      const library = createPool(url)
      const wrap = (one: PoolConnection): HostTransaction => ({
        identity: one,
        run: async (text, values) => (await one.query(text, [...values]))[0] as readonly unknown[],
      })
      return { library, inTransaction: inMariadb, wrap, outside: library, close: () => library.end() }
    },
  ],
  ['Kysely', POSTGRES, (url) => kysely(postgresKysely(url))],
  ['Kysely', MARIADB, (url) => kysely(mariadbKysely(url))],
  ['Knex', POSTGRES, (url) => knexOf(url, 'pg')],
  ['Knex', MARIADB, (url) => knexOf(url, 'mysql2')],
  [
    'Drizzle',
    POSTGRES,
    (url) => {
      const pool = hostPool(url)
      const database = drizzleOnPg(pool)
      const wrap: TakenLibrary['wrap'] = (one) => fromDrizzle(one, sql)
      return { library: { database, sql }, wrap, outside: database, close: () => pool.end() }
    },
  ],
  [
    'Drizzle',
    MARIADB,
    (url) => {
      const pool = createPool(url)
      const database = drizzleOnMysql2(pool)
      const wrap: TakenLibrary['wrap'] = (one) => fromDrizzle(one, sql)
      return { library: { database, sql }, wrap, outside: database, close: () => pool.end() }
    },
  ],
  ['Prisma', POSTGRES, (url) => prisma(new (prismaClientClass('postgresql'))({ adapter: new PrismaPg(url) }))],
  [
    'Prisma',
    MARIADB,
    (url) =>
      prisma(new (prismaClientClass('mysql'))({ adapter: new PrismaMariaDb(url.replace(/^mysql:/, 'mariadb:')) })),
  ],
]

describe.each(LIBRARIES)('inTransaction of %s', (_name, kind, open) =>
  onServer(kind.server, () => inLibrary(kind, open)),
)

describe('withTransaction of any library, that wraps the errors of its driver', () =>
  onServer(POSTGRES.server, () => inLibrary(POSTGRES, anyLibrary, { isTaken: false })))

async function anyLibrary(url: string): Promise<BeginningLibrary> {
  const [client, outside] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([client.connect(), outside.connect()])
  const wrap = (one: pg.Client): HostTransaction => ({
    identity: one,
    run: async (text, values) => {
      const wrapped = (cause: unknown) => Promise.reject(new Error('a statement has failed', { cause }))
      return (await one.query(text, [...values]).catch(wrapped)).rows
    },
  })
  const begin: BeginningLibrary['begin'] = async (work) => {
    await client.query('begin')
    try {
      const value = await work(client as never)
      await client.query('commit')
      return value
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  }
  return { begin, wrap, outside, close: () => Promise.all([client.end(), outside.end()]) }
}

function kysely(library: ReturnType<typeof postgresKysely>): TakenLibrary {
  return { library, wrap: fromKysely, outside: library, close: () => library.destroy() }
}

function knexOf(connection: string, client: string): TakenLibrary {
  const library = knex({ client, connection, pool: { min: 0, max: 5 } })
  return { library, wrap: fromKnex, outside: library, close: () => library.destroy() }
}

function prisma(library: InstanceType<ReturnType<typeof prismaClientClass>>): TakenLibrary {
  return { library, wrap: fromPrisma, outside: library, close: () => library.$disconnect() }
}
