import { expect, test } from 'vitest'
import { define, grant, removeBadge } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { beforeFirst, watch } from '../server/watched-connections.ts'
import { onPostgres } from './host-database.ts'

onPostgres((open) => {
  test('a badge that goes while a host’s transaction with a snapshot grants it is the host’s to grant again', async () => {
    const database = await open()
    const storage = database.storage()
    await define(storage, 'owl')
    const transaction = await database.begun('begin isolation level repeatable read')
    watch(
      transaction,
      beforeFirst(/^insert into .*user_grants/, () => removeBadge(storage, 'owl')),
    )

    await expect(grant(storage, '30', ['owl'], { transaction })).rejects.toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'host-transaction' },
    })
  })
})
