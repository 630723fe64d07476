import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, SqliteDialect } from 'kysely'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { KyselyDatabase, KyselyStorageOptions, KyselyTransaction } from '../../../src/storage/kysely.ts'
import { kyselyStorage } from '../../../src/storage/kysely.ts'
import { heldOpen } from './kysely-host.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

/** A host's tables: none that its own types name. */
export type HostTables = Record<string, Record<string, unknown>>

/** A Kysely of any version. */
export interface AnyKysely<Tx> extends KyselyDatabase<Tx> {
  destroy(): Promise<void>
}

type Options = Omit<KyselyStorageOptions, 'dialect'>

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** Opens a handle as a host has one who does not want his event loop to sleep while another process writes. */
export function openHandle(file: string): Database.Database {
  const handle = new Database(file, { timeout: 0 })
  handle.pragma('journal_mode = wal')
  handle.pragma('synchronous = normal') // the tests do not lose power
  return handle
}

/** Opens a Kysely as a host has one: with plugins. */
export function sqliteKysely(file: string): Kysely<HostTables> {
  return new Kysely({
    dialect: new SqliteDialect({ database: openHandle(file) }),
    plugins: [new CamelCasePlugin(), new ParseJSONResultsPlugin()],
  })
}

/** Storages over Kyselys on SQLite files, each of which has one connection: nothing is done beside a transaction. */
export function kyselySqliteKind<Tx extends KyselyTransaction>(open: (file: string) => AnyKysely<Tx>): StorageKind<Tx> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-kysely-kind-'))
  const places = new WeakMap<ForgeStorage<Tx>, { file: string; kysely: AnyKysely<Tx> }>()
  const opened: AnyKysely<Tx>[] = []
  let count = 0

  const over = async (file: string, options?: Options) => {
    const kysely = open(file)
    opened.push(kysely)
    const storage = await migrated(kyselyStorage(kysely, { dialect: 'sqlite', ...options }))
    places.set(storage, { file, kysely })
    return storage
  }
  const fresh = (options?: Options) => over(join(folder, `${count++}.sqlite`), options)
  const placeOf = (storage: ForgeStorage<Tx>) => {
    const place = places.get(storage)
    if (place === undefined) throw new TypeError('the storage is not of this kind')
    return place
  }

  return {
    name: 'Kysely over a SQLite file',
    open: () => fresh(),
    host: {
      again: (storage) => over(placeOf(storage).file),
      beside: (storage) => over(placeOf(storage).file, { prefix: 'beside_' }),
      begin: (storage) => heldOpen(placeOf(storage).kysely.transaction()),
      textIds: () => fresh(TEXT_IDS),
    },
    async end() {
      for (const kysely of opened) await kysely.destroy()
      rmSync(folder, { recursive: true })
    },
  }
}
