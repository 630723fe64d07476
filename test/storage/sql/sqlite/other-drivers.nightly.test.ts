import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import type { SqliteHandle } from '../../../../src/storage/sqlite.ts'
import { block } from '../../../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { installPackages, packageFolder } from '../../../packages.ts'
import { newFile, newStorage, openStorage } from '../database-files.ts'

const PACKAGES = [
  ...['libsql@0.5.29', 'node-sqlite3-wasm@0.8.60', 'sql.js@1.16.0', 'sqlite3@5.1.7', '@tursodatabase/database@0.7.2'],
  'better-sqlite3-multiple-ciphers@12.11.1',
]
/** Two of them are compiled where no binary can be fetched. */
const MINUTES = 60_000

const folder = packageFolder()
const load = createRequire(join(folder, 'index.js'))

beforeAll(() => installPackages(folder, PACKAGES), 15 * MINUTES)

/** Handles of drivers that have the calls of a handle. */
const UNLIKE: Readonly<Record<string, (file: string) => unknown>> = {
  libsql: (file) => new (load('libsql'))(file),
  'libsql/promise': (file) => new (load('libsql/promise'))(file),
  'node-sqlite3-wasm': (file) => new (load('node-sqlite3-wasm').Database)(file),
  'sql.js': async () => new (await load('sql.js')()).Database(),
  sqlite3: (file) => new (load('sqlite3').Database)(file),
  '@tursodatabase/database': async (file) => (await import(load.resolve('@tursodatabase/database'))).connect(file),
  '@tursodatabase/database/compat': async (file) =>
    new (await import(load.resolve('@tursodatabase/database/compat'))).Database(file),
}

test.each(Object.entries(UNLIKE))('a handle of %s is a TypeError, and nothing is written', async (_, open) => {
  const file = newFile()
  const handle = await open(file)
  const storage = newStorage(handle as SqliteHandle) // the types of some of them are no handles
  await expect(storage.migrate()).rejects.toThrow(/better-sqlite3, node:sqlite or bun:sqlite/)
  await expect(storage.migrate()).rejects.toBeInstanceOf(TypeError)

  expect(existsSync(file) ? readFileSync(file).includes('forgelet_') : false).toBe(false)
})

describe.each(['chacha20', 'sqlcipher', 'aes256cbc'])(
  'a handle of better-sqlite3-multiple-ciphers with the cipher %s',
  (cipher) => {
    const open = (file: string): Database.Database => {
      const handle: Database.Database = new (load('better-sqlite3-multiple-ciphers'))(file)
      handle.pragma(`cipher = '${cipher}'`)
      handle.pragma("key = 'secret'")
      return handle
    }

    test('on a new file writes nothing without the key', async () => {
      const file = newFile()
      const handle = open(file)
      await expect(newStorage(handle).migrate()).rejects.toThrow(/open: \(file\)/)

      expect(handle.prepare('select * from sqlite_schema').all()).toEqual([])
      handle.close()
      expect(() => new Database(file).prepare('select * from sqlite_schema').all()).toThrow(/not a database/)
    })

    test('and open is a forge with that key, for this handle and for another process', async () => {
      const file = newFile()
      const handle = open(file)
      const storage = await openStorage(handle, { open })
      await pin(storage, BOARD, '1')
      await block(storage, '20', '30', { note: 'a note that no one may read' })
      const other = await openStorage(open(file), { open })
      await pin(other, BOARD, '2')

      expect(await issuesOn(storage, BOARD)).toEqual(['1', '2'])
      expect(handle.prepare('select count(*) as blocks from forgelet_blocks').get()).toEqual({ blocks: 1 })
      for (const part of [file, `${file}-wal`]) expect(readFileSync(part).includes('no one may read')).toBe(false)
    })
  },
)
