import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { outbox } from '../../../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
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

const misuse = (beforeCommit: (events: unknown, transaction: unknown) => unknown) => ({
  beforeCommit: beforeCommit as () => undefined,
})

test.each<[string, (events: unknown, transaction: unknown) => unknown]>([
  ['leaves a statement open', (_events, transaction) => void readOn(transaction)],
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
])('a beforeCommit that %s is refused with its batch, and leaves the file to others', async (_what, beforeCommit) => {
  const file = newFile()
  const storage = await openStorage(file)
  const changes = [pin(storage, BOARD, '1'), pin(storage, BOARD, '2', misuse(beforeCommit)), pin(storage, BOARD, '3')]

  expect(await Promise.allSettled(changes)).toMatchObject([
    { reason: { code: 'STORAGE_UNAVAILABLE' } },
    { reason: { message: expect.stringContaining('beforeCommit') } },
    { reason: { code: 'STORAGE_UNAVAILABLE' } },
  ])
  expect(await issuesOn(storage, BOARD)).toEqual([])
  openHandle(file).exec('begin immediate; rollback')
  expect(await pin(storage, BOARD, '4')).toBe(1)
  expect(await outbox(storage)).toHaveLength(1)
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

test('a writer that a host kept, and left inside a transaction, goes when a change has waited five seconds for it', async () => {
  const storage = await openStorage(newFile())
  const kept: unknown[] = []
  await pin(storage, BOARD, '1', { beforeCommit: (_events, transaction) => void kept.push(transaction) })
  const [writer] = kept
  assert(writer instanceof Database)
  writer.exec('begin immediate; delete from forgelet_events')
  await waitTooLong(pin(storage, BOARD, '2'))

  expect(await pin(storage, BOARD, '3')).toBe(2)
  expect(await outbox(storage)).toHaveLength(2)
})

test('a transaction that the host began on the one connection there is, behind a change, is its own', async () => {
  const handle = openHandle(':memory:')
  const storage = await openStorage(handle)
  handle.exec('create table host_rows (id integer)')
  const change = pin(storage, BOARD, '1')
  handle.exec('begin immediate; insert into host_rows values (1)')
  await waitTooLong(change)
  handle.exec('commit')

  expect(handle.prepare('select id from host_rows').all()).toEqual([{ id: 1 }])
  expect(await pin(storage, BOARD, '2')).toBe(1)
})

/** Lets five seconds pass for a change that was just made. */
async function waitTooLong(change: Promise<unknown>): Promise<void> {
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 5001)
  try {
    await expect(change).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
  } finally {
    clock.mockRestore()
  }
}

test.each([
  ['ends it', ['rollback']],
  ['begins another', ['rollback', 'begin immediate']],
  ['ends it for its change alone', ['release forgelet']],
])(
  'in a transaction of the host, a beforeCommit that %s is a TypeError: the host must roll back',
  async (_how, statements) => {
    const handle = openHandle(newFile())
    const storage = await openStorage(handle)
    const change = (issueId: string, extras: object = {}) =>
      storage.pinBoards.update(BOARD, pinning(issueId, { transaction: handle, ...extras }))
    handle.exec('begin immediate')

    expect(() => change('1', misuse(run(...statements)))).toThrow(/could not be undone: roll/)
    if (handle.inTransaction) handle.exec('rollback')
    expect(await issuesOn(storage, BOARD)).toEqual([])
    handle.exec('begin immediate')
    expect(change('2')).toMatchObject({ result: 1 })
  },
)
