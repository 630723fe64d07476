import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import type { ForgeStorage } from '../../src/storage/contract/forge-storage.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { storageCases } from './storage-cases.ts'

const folder = mkdtempSync(join(tmpdir(), 'forgelet-storage-cases-'))
let files = 0

const STORAGES: Readonly<Record<string, () => ForgeStorage>> = {
  memory: () => withoutHost(memoryStorage()),
  'a SQLite file': () => withoutHost(sqliteStorage(join(folder, `${files++}.sqlite`))),
  'SQLite in memory': () => withoutHost(sqliteStorage(':memory:')),
}

function withoutHost<Tx>(storage: ForgeStorage<Tx>): ForgeStorage {
  return storage as ForgeStorage<unknown> // no case hands in a transaction, so its type does not matter
}

afterAll(() => rmSync(folder, { recursive: true }))

describe.each(Object.keys(STORAGES))('%s', (name) => {
  const open = async (): Promise<ForgeStorage> => {
    const storage = STORAGES[name]?.()
    if (storage === undefined) throw new TypeError(`no storage is called ${name}`)
    await storage.migrate()
    return storage
  }

  for (const one of storageCases) test(one.name, () => one.run(open))
})
