import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import type { SqliteHandle } from '../../../../src/storage/sqlite.ts'
import { BOARD, issuesOn, outbox, pin } from '../../../../src/testing/testing.ts'
import { bareHandle } from '../bare-handles.ts'
import { newFile, openHandle, openStorage } from '../database-files.ts'
import { pinning } from '../pinning.ts'

const TWO_ROWS = 'select 1 as n union all select 2'

/** Begins to read on a handle of better-sqlite3, which is no good for anything else until the reading ends. */
function readOn(handle: unknown): IterableIterator<unknown> {
  assert(handle instanceof Database)
  const rows = handle.prepare(TWO_ROWS).iterate()
  rows.next()
  return rows
}

function run(...statements: readonly string[]) {
  return (_events: unknown, transaction: unknown): void => {
    assert(transaction instanceof Database)
    for (const sql of statements) transaction.exec(sql)
  }
}

describe.each<[string, (events: unknown, transaction: unknown) => unknown]>([
  ['leaves a statement open', (_events, transaction) => void readOn(transaction)],
  [
    'leaves a statement open and throws',
    (_events, transaction) => {
      readOn(transaction)
      throw new Error('the host says no')
    },
  ],
  ['rolls its transaction back', run('rollback')],
  ['rolls its transaction back and begins another', run('rollback', 'begin immediate')],
  ['releases the savepoint of its change', run('release forgelet')],
  [
    'closes its transaction',
    (_events, transaction) => {
      assert(transaction instanceof Database)
      transaction.close()
    },
  ],
])('a beforeCommit that %s', (_what, beforeCommit) => {
  const misuse = { beforeCommit: beforeCommit as () => undefined }

  test('is refused with its batch, and nothing of that is written', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    const changes = [pin(storage, BOARD, '1'), pin(storage, BOARD, '2', misuse), pin(storage, BOARD, '3')]
    const outcomes = await Promise.allSettled(changes)

    expect(outcomes).toMatchObject([
      { reason: { code: 'STORAGE_UNAVAILABLE' } },
      { reason: { message: expect.stringMatching(/beforeCommit|the host says no/) } },
      { reason: { code: 'STORAGE_UNAVAILABLE' } },
    ])
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('leaves the file to others, and the storage works on', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    await pin(storage, BOARD, '1', misuse).catch(() => undefined)
    const other = openHandle(file)
    other.exec('begin immediate; rollback')

    expect(await pin(storage, BOARD, '2')).toBe(1)
    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
    expect(await outbox(storage)).toHaveLength(1)
  })
})

test('a beforeCommit that commits on its own is refused, and what is there then is not known', async () => {
  const storage = await openStorage(newFile())
  const outcomes = await Promise.allSettled([
    pin(storage, BOARD, '1'),
    pin(storage, BOARD, '2', { beforeCommit: run('commit', 'begin immediate') }),
  ])

  expect(outcomes).toMatchObject([
    { reason: { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } } },
    { reason: { name: 'TypeError' } },
  ])
  expect(await pin(storage, BOARD, '3')).toBe(3)
})

describe('a writer that a host kept, and left', () => {
  async function keepWriter() {
    const storage = await openStorage(newFile())
    const kept: Database.Database[] = []
    const keep = (_events: unknown, transaction: unknown): void => {
      assert(transaction instanceof Database)
      kept.push(transaction)
    }
    await pin(storage, BOARD, '1', { beforeCommit: keep })
    const [writer] = kept
    assert(writer !== undefined)
    return { storage, writer }
  }

  test.each<[string, (writer: Database.Database) => unknown]>([
    ['inside a transaction', (writer) => writer.exec('begin immediate; delete from forgelet_events')],
    ['with a statement open', (writer) => readOn(writer)],
    ['with a statement open inside a transaction', (writer) => readOn(writer.exec('begin immediate'))],
    ['closed', (writer) => writer.close()],
  ])('%s is cleared by the next change', async (_how, leave) => {
    const { storage, writer } = await keepWriter()
    leave(writer)

    expect(await pin(storage, BOARD, '2')).toBe(2)
    expect(await outbox(storage)).toHaveLength(2)
  })
})

test('a statement left open on the one connection there is refuses what comes next, until it ends', async () => {
  const storage = await openStorage(':memory:')
  const rows: IterableIterator<unknown>[] = []
  const open = (_events: unknown, transaction: unknown): void => void rows.push(readOn(transaction))

  await expect(pin(storage, BOARD, '1', { beforeCommit: open })).rejects.toThrow(/beforeCommit/)
  await expect(pin(storage, BOARD, '2')).rejects.toThrow(/another statement/)
  rows[0]?.return?.()
  expect(await pin(storage, BOARD, '3')).toBe(1)
})

describe('withTransactionSync whose beforeCommit leaves a statement open', () => {
  test('writes nothing, and the transaction can be committed without it', async () => {
    const handle = openHandle(newFile())
    const storage = await openStorage(handle)
    const rows: IterableIterator<unknown>[] = []
    handle.exec('begin immediate')
    storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
    const misuse = pinning('2', { transaction: handle, beforeCommit: () => void rows.push(readOn(handle)) })

    expect(() => storage.pinBoards.update(BOARD, misuse)).toThrow(/beforeCommit/)
    rows[0]?.return?.()
    handle.exec('commit')
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })
})

describe('withTransactionSync whose beforeCommit ends the transaction', () => {
  async function openJoin() {
    const handle = openHandle(newFile())
    const storage = await openStorage(handle)
    handle.exec('begin immediate')
    return { handle, storage }
  }

  test('is refused', async () => {
    const { handle, storage } = await openJoin()
    const misuse = pinning('1', { transaction: handle, beforeCommit: run('rollback') })

    expect(() => storage.pinBoards.update(BOARD, misuse)).toThrow(/beforeCommit/)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test.each([
    ['and begins another', ['rollback', 'begin immediate']],
    ['for its change alone', ['release forgelet']],
  ])('%s is refused with all that follows, until that has ended', async (_how, statements) => {
    const { handle, storage } = await openJoin()
    const misuse = pinning('1', { transaction: handle, beforeCommit: run(...statements) })
    const next = (): unknown => storage.pinBoards.update(BOARD, pinning('2', { transaction: handle }))

    expect(() => storage.pinBoards.update(BOARD, misuse)).toThrow(/could not be undone/)
    expect(next).toThrow(/could not be undone/)
    handle.exec('rollback; begin immediate')
    expect(next()).toMatchObject({ result: 1 })
  })
})

describe('a change that cannot be taken back in withTransactionSync', () => {
  async function failToTakeBack(): Promise<{ readonly handle: SqliteHandle; readonly storage: ForgeStorage }> {
    let armed = false
    const handle = bareHandle(({ sql }) => {
      if (armed && sql.startsWith('rollback to')) throw new Error('not now')
    })
    const storage = await openStorage(handle)
    handle.exec('begin immediate')
    storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
    const refuse = (): never => {
      armed = true
      throw new Error('the host says no')
    }
    const failing = pinning('2', { transaction: handle, beforeCommit: refuse })
    expect(() => storage.pinBoards.update(BOARD, failing)).toThrow(/could not be undone.*roll/)
    armed = false
    return { handle, storage }
  }

  test('refuses every further operation of that transaction', async () => {
    const { handle, storage } = await failToTakeBack()
    const operations = [
      () => storage.checkTransaction(handle),
      () => storage.pinBoards.load(BOARD, handle),
      () => storage.pinBoards.update(BOARD, pinning('3', { transaction: handle })),
      () => storage.pinBoards.update(BOARD, pinning('3', { transaction: handle })),
    ]

    for (const operation of operations) expect(operation).toThrow(/could not be undone.*roll/)
  })

  test('is forgotten when the transaction has ended', async () => {
    const { handle, storage } = await failToTakeBack()
    handle.exec('rollback')
    handle.exec('begin immediate')
    storage.checkTransaction(handle)
    storage.pinBoards.update(BOARD, pinning('3', { transaction: handle }))
    handle.exec('commit')

    expect(await issuesOn(storage, BOARD)).toEqual(['3'])
  })
})
