import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SqliteHandle } from '../../../../src/storage/sqlite.ts'
import { BOARD, pin } from '../../../../src/testing/testing.ts'
import { newFile, newStorage, openHandle, openStorage } from '../database-files.ts'
import { pinning } from '../pinning.ts'

describe('a handle that answers in a shape we do not know', () => {
  test.each([
    ['rows as arrays', [[0, 'main', '/srv/forge.sqlite']]],
    ['rows without a file', [{ name: 'main' }]],
    ['a file that is not text', [{ name: 'main', file: 7 }]],
    ['no rows', []],
  ])('is a TypeError that says so: %s', async (_shape, rows) => {
    const statement = { all: () => rows, get: () => rows[0], run: () => undefined }
    const handle: SqliteHandle = { prepare: () => statement, exec: () => undefined }

    await expect(newStorage(handle).migrate()).rejects.toThrow(TypeError)
    await expect(newStorage(handle).migrate()).rejects.toThrow(/objects by column name/)
  })
})

describe('a handle that the host has closed', () => {
  test('does not stop plain calls on a file that is open already', async () => {
    const handle = new Database(newFile())
    const storage = await openStorage(handle)
    handle.close()

    expect(await pin(storage, BOARD, '1')).toBe(1)
  })
})

test('migrating on the one connection there is, inside the host transaction, is a TypeError at once', async () => {
  const handle = openHandle(':memory:')
  handle.exec('begin')

  await expect(newStorage(handle).migrate()).rejects.toThrow(/inside a transaction/)
})

test('a handle that reports its transactions is not asked by a BEGIN', async () => {
  const statements: string[] = []
  const handle = new Database(newFile(), { verbose: (sql) => void statements.push(String(sql)) })
  onTestFinished(() => void handle.close())
  const storage = await openStorage(handle)
  statements.length = 0
  await pin(storage, BOARD, '1')
  expect(statements).toEqual([])

  handle.exec('begin immediate')
  storage.checkTransaction(handle)
  storage.pinBoards.update(BOARD, pinning('2', { transaction: handle }))
  handle.exec('commit')

  expect(statements.filter((sql) => /begin|rollback/.test(sql))).toEqual(['begin immediate'])
})
