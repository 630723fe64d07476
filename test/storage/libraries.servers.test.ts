import { expect, test } from 'vitest'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { onDatabases } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'
import { LIBRARIES } from './library-kinds.ts'

hostTransactions(LIBRARIES, 'short')

onDatabases(LIBRARIES, (open) => {
  test('a database of the library is not a transaction', async () => {
    const database = await open()
    const storage = database.storage()
    const { transaction } = await database.connect()

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toThrow(TypeError)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })
})
