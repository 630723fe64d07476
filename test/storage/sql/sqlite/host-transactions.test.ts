import { expect, test } from 'vitest'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { newFile, newStorage, openHandle, openStorage } from '../database-files.ts'
import { pinning } from '../pinning.ts'

test.each(['a file', ':memory:'])(
  'a host transaction on %s refuses a plain change, which would not be part of it',
  async (where) => {
    const handle = openHandle(where === 'a file' ? newFile() : where)
    const storage = await openStorage(handle)
    handle.exec('begin immediate')

    expect(() => storage.pinBoards.update(BOARD, pinning('1'))).toThrow(/use withTransactionSync/)
    handle.exec('rollback')
    expect(await pin(storage, BOARD, '1')).toBe(1)
  },
)

test('a plain read on the one connection there is is refused inside a transaction', async () => {
  const handle = openHandle(':memory:')
  const storage = await openStorage(handle)
  handle.exec('begin')

  expect(() => storage.pinBoards.load(BOARD)).toThrow(/use withTransactionSync/)
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

test('a deferred transaction that has read what others changed since is STORAGE_BUSY', async () => {
  const file = newFile()
  const handle = openHandle(file)
  const storage = await openStorage(handle)
  handle.exec('begin')
  handle.prepare('select * from forgelet_pins').all()
  await pin(await openStorage(file), BOARD, '1')

  expect(() => storage.checkTransaction(handle)).toThrow(expect.objectContaining({ code: 'STORAGE_BUSY' }))
})

test('a handle on tables that are not made yet is SCHEMA_OUTDATED', () => {
  const handle = openHandle(newFile())
  handle.exec('begin immediate')
  const storage = newStorage(handle)

  expect(() => storage.checkTransaction(handle)).toThrow(expect.objectContaining({ code: 'SCHEMA_OUTDATED' }))
})
