import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { SqliteHandle } from '../../../../src/storage/sqlite.ts'
import { issuesOn, outbox } from '../../../../src/testing/storage-contract/cases/contents.ts'
import {
  BOARD,
  block,
  define,
  grant,
  pin,
  retire,
} from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import type { Asked } from '../bare-handles.ts'
import { bareHandle } from '../bare-handles.ts'
import { newFile, newStorage, openStorage } from '../database-files.ts'

async function useEverything(): Promise<readonly Asked[]> {
  const asked: Asked[] = []
  const storage = await openStorage(bareHandle((one) => void asked.push(one)))
  await define(storage, 'night-owl')
  await grant(storage, '2', ['night-owl'])
  await Promise.all([pin(storage, BOARD, '1'), pin(storage, BOARD, '2'), block(storage, '3', '2')])
  await retire(storage, { thing: 'issue', issueId: '1', repositoryId: '10', kind: 'issue' })
  await retire(storage, { thing: 'user', userId: '2' })
  await storage.blocks.among('3', ['2', '4'])
  await storage.events.list({ userId: '2', types: ['user.blocked'] }, { from: { page: 1 }, limit: 10 })
  await outbox(storage)
  expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  return asked.slice(asked.findIndex(({ sql }) => sql.startsWith('insert into "forgelet_heads"')))
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}

describe('a handle that has the seam and nothing else', () => {
  test('carries a whole forge', async () => {
    expect((await useEverything()).length).toBeGreaterThan(50)
  })

  test('is bound strings, numbers, null and bytes only', async () => {
    const kinds = new Set((await useEverything()).flatMap(({ parameters }) => parameters.map(kindOf)))

    expect([...kinds].sort()).toEqual(['null', 'number', 'string'])
  })

  test('is asked for rows exactly where a statement gives rows', async () => {
    for (const { sql, by } of await useEverything()) {
      const givesRows = /^select|returning|^pragma database_list/.test(sql)
      expect({ sql, by }).toEqual({ sql, by: givesRows ? 'all' : 'run' })
    }
  })

  test('is asked for columns by name, never for all of them', async () => {
    for (const { sql } of await useEverything()) expect(sql).not.toMatch(/select \*|\.\*/)
  })

  test('is never given an id as a number, which drivers round', async () => {
    const asked = await useEverything()

    for (const { sql } of asked) expect(sql).not.toMatch(/_id" (=|in|>) \?/)
    expect(asked.some(({ sql }) => sql.includes('cast(? as integer)'))).toBe(true)
  })
})

test('a handle whose constructor opens nothing is STORAGE_UNAVAILABLE, with the fix', async () => {
  const database = new Database(newFile())
  const wrapped: SqliteHandle = { prepare: (sql) => database.prepare(sql), exec: (sql) => database.exec(sql) }

  await expect(newStorage(wrapped).migrate()).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: expect.stringContaining('handle'),
  })
  database.close()
})
