import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { SqlStorageOptions } from '../../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import type { HostTransaction } from '../../../src/testing/testing.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

type Handle = Database.Database

/** Makes a storage over a file or an open handle. */
export type MakeSqliteStorage = (fileOrHandle: string | Handle, options?: SqlStorageOptions) => ForgeStorage<Handle>

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** Storages over SQLite files, by file name; hosts open handles of their own on them. */
export function sqliteFileKind(make: MakeSqliteStorage = sqliteStorage): StorageKind<Handle> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-sqlite-kind-'))
  const files = new WeakMap<ForgeStorage<Handle>, string>()
  let count = 0

  const over = async (file: string, options?: SqlStorageOptions) => {
    const storage = await migrated(make(file, options))
    files.set(storage, file)
    return storage
  }
  const fresh = (options?: SqlStorageOptions) => over(join(folder, `${count++}.sqlite`), options)
  const fileOf = (storage: ForgeStorage<Handle>) => known(files.get(storage))
  const beginOn = (storage: ForgeStorage<Handle>, begin: string) => {
    const handle = new Database(fileOf(storage), { timeout: 0 })
    return { ...hostTransaction(handle, begin), release: () => void handle.close() }
  }

  return {
    name: 'a SQLite file',
    open: () => fresh(),
    host: {
      again: (storage) => over(fileOf(storage)),
      beside: (storage) => over(fileOf(storage), { prefix: 'beside_' }),
      begin: (storage) => beginOn(storage, 'begin immediate'),
      beginSnapshot: (storage) => beginOn(storage, 'begin'),
      textIds: () => fresh(TEXT_IDS),
    },
    end: async () => rmSync(folder, { recursive: true }),
  }
}

/** Storages over handles of databases in memory, which are their hosts' one connection. */
export function sqliteMemoryKind(make: MakeSqliteStorage = sqliteStorage): StorageKind<Handle> {
  const handles = new WeakMap<ForgeStorage<Handle>, Handle>()

  const over = async (handle: Handle, options?: SqlStorageOptions) => {
    const storage = await migrated(make(handle, options))
    handles.set(storage, handle)
    return storage
  }
  const fresh = (options?: SqlStorageOptions) => {
    const handle = new Database(':memory:')
    handle.pragma('foreign_keys = on')
    return over(handle, options)
  }

  return {
    name: 'SQLite in memory',
    open: () => fresh(),
    host: {
      beside: (storage) => over(known(handles.get(storage)), { prefix: 'beside_' }),
      begin: (storage) => hostTransaction(known(handles.get(storage)), 'begin immediate'),
      textIds: () => fresh(TEXT_IDS),
    },
    end: async () => undefined,
  }
}

function hostTransaction(handle: Handle, begin: string): HostTransaction<Handle> {
  handle.exec(begin)
  return { transaction: handle, commit: () => void handle.exec('commit'), rollback: () => void handle.exec('rollback') }
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('the storage is not of this kind')
  return value
}
