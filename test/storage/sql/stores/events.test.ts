import { expect, test } from 'vitest'
import { note } from '../../../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { bareHandle } from '../bare-handles.ts'
import { openStorage } from '../database-files.ts'

test('the history of an issue reads its pins alone, however often the issue was moved', async () => {
  const read: number[] = []
  const storage = await openStorage(
    bareHandle(
      () => undefined,
      ({ sql }, rows) => void (/ from \S*events/.test(sql) && read.push(rows.length)),
    ),
  )
  await pin(storage, BOARD, '5')
  await note(storage, 20)
  const history = await storage.events.history('5')

  expect(history).toHaveLength(1)
  expect(read).toEqual([1])
})
