import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openSqliteDatabase } from '../../../src/standalone/host-store/sqlite-database.ts'
import { exchangeSuite } from './exchange-suite.ts'
import { exchangeWorld } from './exchange-world.ts'

const ends: (() => Promise<void>)[] = []

afterAll(async () => {
  for (const end of ends) await end()
})

exchangeSuite('in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-exchange-'))
  const database = await openSqliteDatabase(join(folder, 'forge.db'), undefined)
  ends.push(async () => {
    await database.storage.close()
    database.close()
    rmSync(folder, { recursive: true })
  })
  return exchangeWorld(database)
})
