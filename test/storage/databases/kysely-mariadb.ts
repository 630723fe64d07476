import type { IsolationLevel, Transaction } from 'kysely'
import { CamelCasePlugin, Kysely, MysqlDialect, ParseJSONResultsPlugin } from 'kysely'
import type { PoolOptions } from 'mysql2'
import { createPool } from 'mysql2'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { KyselyStorageOptions } from '../../../src/storage/kysely.ts'
import { kyselyStorage } from '../../../src/storage/kysely.ts'
import { heldOpen } from './kysely-host.ts'
import type { HostTables } from './kysely-sqlite.ts'
import { MariadbDatabases } from './mariadb.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

type Tx = Transaction<HostTables>
type Options = Omit<KyselyStorageOptions, 'dialect'>
type Database = Awaited<ReturnType<MariadbDatabases['take']>>

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/**
 * Storages over Kyselys on databases of a MariaDB server; each database has two, for two processes.
 *
 * @param level - that of the host's transactions; that of the server when nothing is said
 */
export function kyselyMariadbKind(server: string, level: IsolationLevel = 'repeatable read'): StorageKind<Tx> {
  const databases = new MariadbDatabases(server)
  const places = new WeakMap<ForgeStorage<Tx>, { database: Database; kysely: Kysely<HostTables> }>()
  const kyselys = new Map<string, Kysely<HostTables>>()

  const kyselyOf = (database: Database, process: 'first' | 'second') => {
    const key = `${database.name} ${process}`
    const kysely = kyselys.get(key) ?? mariadbKysely(database.url)
    kyselys.set(key, kysely)
    return kysely
  }
  const over = async (database: Database, process: 'first' | 'second', options?: Options) => {
    const kysely = kyselyOf(database, process)
    const storage = await migrated(kyselyStorage(kysely, { dialect: 'mysql', ...options }))
    const counted = databases.counted(database, storage)
    places.set(counted, { database, kysely })
    return counted
  }
  const fresh = async (options?: Options) => over(await databases.take(JSON.stringify(options)), 'first', options)
  const placeOf = (storage: ForgeStorage<Tx>) => {
    const place = places.get(storage)
    if (place === undefined) throw new TypeError('the storage is not of this kind')
    return place
  }

  return {
    name: 'Kysely over MariaDB',
    open: () => fresh(),
    host: {
      again: (storage) => over(placeOf(storage).database, 'second'),
      beside: (storage) => over(placeOf(storage).database, 'first', { prefix: 'beside_' }),
      begin: (storage) => heldOpen(placeOf(storage).kysely.transaction().setIsolationLevel(level)),
      beginSnapshot: (storage) => heldOpen(placeOf(storage).kysely.transaction().setIsolationLevel('repeatable read')),
      beginReadCommitted: (storage) =>
        heldOpen(placeOf(storage).kysely.transaction().setIsolationLevel('read committed')),
      textIds: () => fresh(TEXT_IDS),
    },
    async end() {
      for (const kysely of kyselys.values()) await kysely.destroy()
      await databases.end()
    },
  }
}

/** Opens a Kysely as a host has one: with plugins, and a statement that each connection begins with. */
export function mariadbKysely(url: string, options: PoolOptions = {}, statement?: string): Kysely<HostTables> {
  const pool = createPool({ uri: url, connectionLimit: 20, ...options })
  if (statement !== undefined) pool.on('connection', (connection) => void connection.query(statement))
  return new Kysely({
    dialect: new MysqlDialect({ pool }),
    plugins: [new CamelCasePlugin(), new ParseJSONResultsPlugin()],
  })
}
