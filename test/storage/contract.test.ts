import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import type { ForgeStorage } from '../../src/storage/contract/forge-storage.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { storageContract } from '../../src/testing/testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'forgelet-storage-contract-'))
let files = 0

afterAll(() => rmSync(folder, { recursive: true }))

describe('memory', () => {
  for (const { name, run } of storageContract(async () => memoryStorage())) test(name, run)
})

describe('a SQLite file', () => {
  const open = () => migrated(sqliteStorage(join(folder, `${files++}.sqlite`)))
  for (const { name, run } of storageContract(open)) test(name, run)
})

describe('SQLite in memory', () => {
  for (const { name, run } of storageContract(() => migrated(sqliteStorage(':memory:')))) test(name, run)
})

async function migrated<Tx>(storage: ForgeStorage<Tx>): Promise<ForgeStorage<Tx>> {
  await storage.migrate()
  return storage
}
