import { expect, test } from 'vitest'
import { block } from '../../../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { newFile, openHandle, openStorage } from '../database-files.ts'

test('on SQLite, a head that is only locked is not written', async () => {
  const file = newFile()
  const storage = await openStorage(file)
  await block(storage, '1', '2')
  await pin(storage, BOARD, '3')
  const heads = openHandle(file).prepare('select scope, version from forgelet_heads order by scope')

  expect(heads.all()).toEqual([
    { scope: 'issueBoard', version: 1 },
    { scope: 'organization', version: 1 },
  ])
})
