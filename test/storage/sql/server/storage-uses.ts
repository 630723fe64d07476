import { createPool } from 'mysql2/promise'
import pg from 'pg'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { mysqlStorage } from '../../../../src/storage/mysql.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { heldOpen } from '../../databases/kysely-host.ts'
import { mariadbKysely } from '../../databases/kysely-mariadb.ts'
import { postgresKysely, received } from '../../databases/kysely-postgres.ts'
import type { ServerKind } from './server-databases.ts'
import { POSTGRES } from './server-databases.ts'

/** A storage that is open, and what its host has. */
export interface OpenUse {
  readonly storage: ForgeStorage<unknown>
  /** Begins a transaction of the host; undefined where the host has no connections. */
  readonly begin: (() => Promise<HostTransaction>) | undefined
  /** Ends what the host has opened, without waiting for a silent server. */
  end(): void
}

/** An open transaction of the host. */
export interface HostTransaction {
  readonly transaction: unknown
  commit(): unknown
}

/** One way to use a storage on a server. */
export interface StorageUse {
  readonly name: string
  /** Opens it with so many connections at most, where the host says how many. */
  open(url: string, connections: number): OpenUse
}

/** All ways to use a storage on a kind of server. */
export function storageUses(kind: ServerKind): readonly StorageUse[] {
  return kind === POSTGRES ? POSTGRES_USES : MARIADB_USES
}

const POSTGRES_USES: readonly StorageUse[] = [
  { name: 'a URL', open: (url) => ({ storage: anyHost(postgresStorage(url)), begin: undefined, end: ignore }) },
  {
    name: 'a pool',
    open(url, max) {
      const pool = received(new pg.Pool({ connectionString: url, max }))
      return {
        storage: anyHost(postgresStorage<pg.PoolClient>(pool)),
        async begin() {
          const transaction = await pool.connect()
          await transaction.query('begin')
          return { transaction, commit: () => transaction.query('commit').then(() => transaction.release()) }
        },
        end: () => void pool.end(),
      }
    },
  },
  {
    name: 'a Kysely',
    open(url, max) {
      const kysely = postgresKysely(received(new pg.Pool({ connectionString: url, max })))
      return {
        storage: anyHost(kyselyStorage(kysely, { dialect: 'postgres' })),
        begin: () => heldOpen(kysely.transaction()),
        end: () => void kysely.destroy(),
      }
    },
  },
]

const MARIADB_USES: readonly StorageUse[] = [
  { name: 'a URL', open: (url) => ({ storage: anyHost(mysqlStorage(url)), begin: undefined, end: ignore }) },
  {
    name: 'a pool',
    open(uri, connectionLimit) {
      const pool = createPool({ uri, connectionLimit })
      return {
        storage: anyHost(mysqlStorage(pool)),
        async begin() {
          const transaction = await pool.getConnection()
          await transaction.beginTransaction()
          return { transaction, commit: () => transaction.commit().then(() => transaction.release()) }
        },
        end: () => void pool.end().catch(ignore),
      }
    },
  },
  {
    name: 'a Kysely',
    open(url, connectionLimit) {
      const kysely = mariadbKysely(url, { connectionLimit })
      return {
        storage: anyHost(kyselyStorage(kysely, { dialect: 'mysql' })),
        begin: () => heldOpen(kysely.transaction()),
        end: () => void kysely.destroy().catch(ignore),
      }
    },
  },
]

/** The tests hand each storage the transactions of its own host. */
function anyHost<Tx>(storage: ForgeStorage<Tx>): ForgeStorage<unknown> {
  return storage as ForgeStorage<unknown>
}

function ignore(): void {}
