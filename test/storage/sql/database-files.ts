import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { SqliteHandle, SqliteStorageOptions } from '../../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'

/** A file that no database is in yet, in a folder that goes when the test ends. */
export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'forge.sqlite')
}

/** A handle of the host, closed when the test ends. */
export function openHandle(file: string): Database.Database {
  const handle = new Database(file, { timeout: 0 })
  onTestFinished(() => void handle.close())
  return handle
}

/** A storage, closed when the test ends; which type of handle the host has does not matter to a test. */
export function newStorage(fileOrHandle: string | SqliteHandle, options: SqliteStorageOptions = {}): ForgeStorage {
  const storage: ForgeStorage<SqliteHandle> = sqliteStorage(fileOrHandle, options)
  onTestFinished(() => storage.close())
  return storage as ForgeStorage<unknown>
}

/** A migrated storage, closed when the test ends. */
export async function openStorage(
  fileOrHandle: string | SqliteHandle,
  options: SqliteStorageOptions = {},
): Promise<ForgeStorage> {
  const storage = newStorage(fileOrHandle, options)
  await storage.migrate()
  return storage
}

/** A handle of the host's on a file, and every statement run on the connections the storage opens beside it. */
export function watchedHandle(file: string): { readonly handle: Database.Database; readonly statements: string[] } {
  const statements: string[] = []
  const hosts: Database.Database[] = []
  class Watched extends Database {
    constructor(path: string) {
      const isOurs = hosts.length > 0
      super(path, { timeout: 0, verbose: (sql) => void (isOurs && statements.push(String(sql))) })
    }
  }
  const handle = new Watched(file)
  hosts.push(handle)
  onTestFinished(() => void handle.close())
  return { handle, statements }
}
