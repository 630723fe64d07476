import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../../../src/storage/sqlite.ts'
import { outcomeOf } from '../../../../src/testing/storage-contract/cases/storage-case.ts'
import { outbox } from '../../../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { AT_ONCE } from '../../promised-times.ts'
import { newFile, newStorage, openHandle, openStorage, watchedHandle } from '../database-files.ts'

describe('opening', () => {
  test('waits for the first use: making a storage makes no file', () => {
    const file = newFile()
    newStorage(file)

    expect(existsSync(file)).toBe(false)
  })

  test('a use before migrate() is SCHEMA_OUTDATED and makes no file', async () => {
    const file = newFile()
    const storage = newStorage(file)

    expect(await outcomeOf(() => storage.pinBoards.load(BOARD))).toMatchObject({ thrown: { code: 'SCHEMA_OUTDATED' } })
    expect(await outcomeOf(() => pin(storage, BOARD, '1'))).toMatchObject({
      thrown: { code: 'SCHEMA_OUTDATED', details: { found: 0 } },
    })
    expect(existsSync(file)).toBe(false)
  })

  test('a folder that is not there is STORAGE_UNAVAILABLE, and its path is not in the message', async () => {
    const outcome = await outcomeOf(() => newStorage('/no/such/folder/forge.sqlite').migrate())

    expect(outcome).toMatchObject({ thrown: { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } } })
    expect('thrown' in outcome && String(outcome.thrown)).not.toContain('folder')
  })
})

describe('the reader of a file', () => {
  test('answers at once while another writer is inside its transaction', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    await pin(storage, BOARD, '1')
    const other = openHandle(file)
    other.exec('begin immediate')
    other.exec('delete from forgelet_board_pins')

    expect(storage.pinBoards.load(BOARD)).toMatchObject([{ issueId: '1' }])
  })

  test('waits for a file that is locked without holding the event loop', async () => {
    const file = newFile()
    const other = openHandle(file)
    other.exec('create table host_rows (id integer); begin exclusive')
    const start = performance.now()
    const status = newStorage(file).schemaStatus()
    const asked = performance.now() - start
    other.exec('commit')

    expect(asked).toBeLessThan(AT_ONCE)
    expect(await status).toMatchObject({ state: 'empty' })
  })

  test('leaves no statement open: what is acknowledged is seen', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    const other = await openStorage(file)
    for (const issueId of ['1', '2', '3']) {
      await issuesOn(storage, BOARD)
      await outbox(storage)
      await pin(other, BOARD, issueId)
    }

    expect(await issuesOn(storage, BOARD)).toEqual(['1', '2', '3'])
  })

  test('cannot write', async () => {
    const { handle, statements } = watchedHandle(newFile())
    await openStorage(handle)

    expect(statements.join(' ')).toMatch(/query_only = on(?!.*query_only)/s)
  })
})

describe('closing', () => {
  test.each(['a file', ':memory:'])('leaves the handle of the host open on %s', async (where) => {
    const handle = openHandle(where === 'a file' ? newFile() : where)
    const storage = await openStorage(handle)
    await storage.close()

    expect(handle.open).toBe(true)
    expect(handle.prepare('select * from forgelet_pins').all()).toEqual([])
  })
})

test.each<readonly [string, (file: string, copy: string) => void]>([
  ['replaced by another', (file, copy) => renameSync(copy, file)],
  ['moved away', (file, copy) => renameSync(file, `${copy}.moved`)],
  ['deleted', (file) => rmSync(file)],
  [
    'replaced by a link to itself',
    (file) => {
      rmSync(file)
      symlinkSync(file, file)
    },
  ],
])('a file that was %s while it is open takes no change, and is not ready', async (_, change) => {
  const file = newFile()
  const storage = sqliteStorage(file)
  onTestFinished(() => storage.close())
  await storage.migrate()
  await pin(storage, BOARD, '1')
  const copy = `${file}.copy`
  openHandle(file).exec(`vacuum into '${copy}'`)
  change(file, copy)
  const gone = {
    thrown: {
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringContaining('replaced, moved or deleted'),
      details: { outcome: 'nothing-done' },
    },
  }

  expect(await outcomeOf(() => pin(storage, BOARD, '2'))).toMatchObject(gone)
  expect(await outcomeOf(() => storage.database.check())).toMatchObject(gone)
  expect(await outcomeOf(() => storage.schemaStatus())).toMatchObject(gone)
  expect(await issuesOn(storage, BOARD)).toEqual(['1'])
})

test('a database in memory is read from outside only after the batch that is running', async () => {
  const storage = await openStorage(':memory:')
  const reads: unknown[] = []
  await pin(storage, BOARD, '1', { beforeCommit: () => void reads.push(storage.pinBoards.load(BOARD)) })

  expect(await reads[0]).toMatchObject([{ issueId: '1' }])
})
