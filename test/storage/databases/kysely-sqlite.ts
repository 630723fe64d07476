import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Transaction } from 'kysely'
import { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, SqliteDialect } from 'kysely'
import type { ForgeStorage } from '../../../src/storage/contract/forge-storage.ts'
import type { KyselyStorageOptions } from '../../../src/storage/kysely.ts'
import { kyselyStorage } from '../../../src/storage/kysely.ts'
import { heldOpen } from './kysely-host.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

/** A host's tables: none that its own types tell of. */
export type HostTables = Record<string, Record<string, unknown>>

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** Opens a Kysely as a host has one: with plugins, and a handle whose waiting does not stop the event loop. */
export function sqliteKysely(file: string): Kysely<HostTables> {
  const database = new Database(file, { timeout: 0 })
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = normal')
  return new Kysely({
    dialect: new SqliteDialect({ database }),
    plugins: [new CamelCasePlugin(), new ParseJSONResultsPlugin()],
  })
}

/** Storages over a Kysely on SQLite files. */
export function kyselySqliteKind(
  open: (file: string) => Kysely<HostTables> = sqliteKysely,
): StorageKind<Transaction<HostTables>> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-kysely-kind-'))
  const places = new WeakMap<ForgeStorage<Transaction<HostTables>>, { file: string; kysely: Kysely<HostTables> }>()
  const opened: Kysely<HostTables>[] = []
  let count = 0

  const over = async (file: string, options?: Omit<KyselyStorageOptions, 'dialect'>) => {
    const kysely = open(file)
    opened.push(kysely)
    const storage = await migrated(kyselyStorage(kysely, { dialect: 'sqlite', ...options }))
    places.set(storage, { file, kysely })
    return storage
  }
  const fresh = (options?: Omit<KyselyStorageOptions, 'dialect'>) => over(join(folder, `${count++}.sqlite`), options)
  const placeOf = (storage: ForgeStorage<Transaction<HostTables>>) => {
    const place = places.get(storage)
    if (place === undefined) throw new TypeError('the storage is none of this kind')
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
