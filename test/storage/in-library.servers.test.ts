import type { PoolConnection } from 'mysql2/promise'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { describe } from 'vitest'
import { inTransaction as inMariadb } from '../../src/storage/mariadb.ts'
import { inTransaction as inPostgres } from '../../src/storage/postgres.ts'
import type { HostTransaction } from '../../src/storage/storage.ts'
import type { ServerKind } from '../databases.ts'
import { MARIADB, onServer, POSTGRES } from '../databases.ts'
import { hostPool } from './client-kinds.ts'
import type { BeginningLibrary, TakenLibrary } from './in-library-suite.ts'
import { inLibrary } from './in-library-suite.ts'
import { LIBRARIES } from './library-kinds.ts'

const POOLS: readonly (readonly [string, ServerKind, (url: string) => TakenLibrary])[] = [
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
]

describe.each([...POOLS, ...LIBRARIES])('inTransaction of %s', (_name, kind, open) =>
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
