import { expect, test } from 'vitest'
import { note } from '../../../../src/testing/storage-contract/samples/outbox.ts'
import { newFile, openStorage } from '../database-files.ts'

test('a prune of a long outbox yields to the event loop, even if it removes nothing', async () => {
  const storage = await openStorage(newFile())
  await note(storage, 1200)
  const pruned = Promise.resolve(storage.events.prune(new Date(0)))
  const first = await Promise.race([pruned, new Promise((resolve) => setImmediate(resolve, 'the loop turns'))])

  expect(first).toBe('the loop turns')
  expect(await pruned).toBe(0)
})
