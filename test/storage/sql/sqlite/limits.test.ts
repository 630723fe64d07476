import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { sqliteStorage } from '../../../../src/storage/sqlite.ts'
import { forgeOn } from '../../forge-on.ts'

test('no parameter is alone in LIMIT or OFFSET: SQLite would prepare the statement again each time it runs', async () => {
  const prepared: string[] = []
  const handle = new Database(':memory:')
  const prepare = (sql: string) => {
    prepared.push(sql)
    return Database.prototype.prepare.call(handle, sql)
  }
  const storage = sqliteStorage(Object.assign(handle, { prepare }))
  await storage.migrate()
  const forge = forgeOn(storage)
  for (const id of [1, 2, 3]) {
    await forge.blocks.block('system', { organizationId: 7, account: { kind: 'user', id } })
    await forge.badges.catalogue.define('system', { slug: `badge-${id}`, description: '', imageUrl: '' })
  }

  for (const page of [1, 2, 3]) {
    expect((await forge.blocks.list('system', { organizationId: 7, page, limit: 1 })).items).toHaveLength(1)
    expect((await forge.badges.catalogue.list('system', { page, limit: 1 })).items).toHaveLength(1)
    expect((await forge.events.list({}, { page, limit: 1 })).items).toHaveLength(1)
  }
  expect((await storage.events.read({ after: undefined, limit: 2 })).events).toHaveLength(2)
  expect(await forge.events.prune({ before: new Date(Date.now() + 1000) })).toBe(6)
  await forge.close()

  const limited = prepared.filter((sql) => /\b(?:limit|offset)\b/.test(sql))
  expect(limited.length).toBeGreaterThan(5)
  for (const sql of limited) expect(sql).not.toMatch(/\b(?:limit|offset) \?/)
})
