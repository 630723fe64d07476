import { describe, expect, test } from 'vitest'
import { isForgeError } from '../../../../src/schema/errors.ts'
import { issuesOn, outbox } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { newFile, newStorage, openHandle, openStorage } from '../database-files.ts'
import { pinning } from '../pinning.ts'

describe.each(['a file', ':memory:'])('a host transaction on %s', (where) => {
  async function openBoth() {
    const handle = openHandle(where === 'a file' ? newFile() : where)
    return { handle, storage: await openStorage(handle) }
  }

  test('takes changes that answer at once and are committed with it', async () => {
    const { handle, storage } = await openBoth()
    handle.exec('begin immediate')
    storage.checkTransaction(handle)
    const outcome = storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
    handle.exec('commit')

    expect(outcome).toMatchObject({ stale: false, result: 1 })
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('takes its changes away again when it is rolled back', async () => {
    const { handle, storage } = await openBoth()
    handle.exec('begin immediate')
    storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
    handle.exec('rollback')

    expect(await issuesOn(storage, BOARD)).toEqual([])
    expect(await outbox(storage)).toEqual([])
  })

  test('sees its own changes, and loses only what is refused in it', async () => {
    const { handle, storage } = await openBoth()
    handle.exec('begin immediate')
    storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
    const refuse = (): never => {
      throw new Error('the host says no')
    }
    const refused = (): unknown =>
      storage.pinBoards.update(BOARD, pinning('2', { transaction: handle, beforeCommit: refuse }))

    expect(refused).toThrow('the host says no')
    expect(storage.pinBoards.load(BOARD, handle)).toMatchObject([{ issueId: '1' }])
    handle.exec('commit')
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('reports events as committed only once they are', async () => {
    const { handle, storage } = await openBoth()
    handle.exec('begin immediate')
    const outcome = await storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
    const events = outcome.stale ? [] : outcome.events
    const ids = events.map((event) => event.id)
    const before = await storage.events.committed(ids)
    handle.exec('commit')

    expect([ids.length, before]).toEqual([1, []])
    expect(await storage.events.committed(ids)).toEqual(events)
  })

  test('must be open, or nothing can be entered or written', async () => {
    const { handle, storage } = await openBoth()

    expect(() => storage.checkTransaction(handle)).toThrow(/immediate/)
    expect(() => storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))).toThrow(TypeError)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('refuses a plain change, which would not be part of it', async () => {
    const { handle, storage } = await openBoth()
    handle.exec('begin immediate')

    expect(() => storage.pinBoards.update(BOARD, pinning('1'))).toThrow(/use withTransactionSync/)
    handle.exec('rollback')
    expect(await pin(storage, BOARD, '1')).toBe(1)
  })
})

test('a plain read on the one connection there is is refused inside a transaction', async () => {
  const handle = openHandle(':memory:')
  const storage = await openStorage(handle)
  handle.exec('begin')

  expect(() => storage.pinBoards.load(BOARD)).toThrow(/use withTransactionSync/)
})

test('a plain read of a file does not see what a host transaction has not committed', async () => {
  const handle = openHandle(newFile())
  const storage = await openStorage(handle)
  handle.exec('begin immediate')
  storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))

  expect(storage.pinBoards.load(BOARD)).toEqual([])
})

test('a storage of a file name accepts any handle that is open on the file', async () => {
  const file = newFile()
  const storage = await openStorage(file)
  const handle = openHandle(file)
  handle.exec('begin immediate')
  storage.checkTransaction(handle)
  storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
  handle.exec('commit')

  expect(await issuesOn(storage, BOARD)).toEqual(['1'])
})

test.each([':memory:', 'another file'])('a transaction on %s is not one of the storage', async (where) => {
  const storage = await openStorage(newFile())
  const other = openHandle(where === ':memory:' ? where : newFile())
  other.exec('begin')

  expect(() => storage.checkTransaction(other)).toThrow(/another database/)
})

test('a transaction that cannot get the write lock is STORAGE_BUSY, and the host runs it again', async () => {
  const file = newFile()
  const handle = openHandle(file)
  const storage = await openStorage(handle)
  const other = openHandle(file)
  other.exec('begin immediate')
  handle.exec('begin')
  const error = thrownBy(() => storage.checkTransaction(handle))

  expect(isForgeError(error, 'STORAGE_BUSY') && error.details).toEqual({ retry: 'host-transaction' })
})

test('a deferred transaction that has read what others changed since is STORAGE_BUSY', async () => {
  const file = newFile()
  const handle = openHandle(file)
  const storage = await openStorage(handle)
  handle.exec('begin')
  handle.prepare('select * from forgelet_pins').all()
  await pin(await openStorage(file), BOARD, '1')

  expect(
    isForgeError(
      thrownBy(() => storage.checkTransaction(handle)),
      'STORAGE_BUSY',
    ),
  ).toBe(true)
})

test('entering takes the write lock, so that no one else can write', async () => {
  const file = newFile()
  const handle = openHandle(file)
  const storage = await openStorage(handle)
  handle.exec('begin')
  storage.checkTransaction(handle)

  expect(() => openHandle(file).exec('begin immediate')).toThrow(/locked/)
})

test('a handle on tables that are not made yet is SCHEMA_OUTDATED', () => {
  const handle = openHandle(newFile())
  handle.exec('begin immediate')

  expect(
    isForgeError(
      thrownBy(() => newStorage(handle).checkTransaction(handle)),
      'SCHEMA_OUTDATED',
    ),
  ).toBe(true)
})

test('whole numbers that the host reads as bigint do not reach a decision', async () => {
  const handle = openHandle(':memory:')
  handle.defaultSafeIntegers()
  const storage = await openStorage(handle)
  await pin(storage, BOARD, '1')
  const [row] = await storage.pinBoards.load(BOARD)

  expect(row).toEqual({ issueId: '1', pinnedAt: new Date('2024-05-06T12:00:00.123Z'), pinnedBy: '7' })
  expect(await storage.pinBoards.epoch(BOARD)).toBe(0)
})

function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}
