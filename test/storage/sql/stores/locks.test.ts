import { expect, test } from 'vitest'
import { BOARD, block, moveToFront, pin } from '../../../../src/testing/testing.ts'
import { newFile, openHandle, openStorage } from '../database-files.ts'

// docs/storage.md promises it: by the version, a snapshot that is older than a change notices it.
test('a change that alters nothing else of its head raises the version', async () => {
  const file = newFile()
  const storage = await openStorage(file)
  for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
  const heads = openHandle(file).prepare("select * from forgelet_heads where scope = 'issueBoard'")
  const before = heads.get()
  await moveToFront(storage, BOARD, '2')

  expect(before).toMatchObject({ version: 2 })
  expect(heads.get()).toEqual({ ...Object(before), version: 3 })
})

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
