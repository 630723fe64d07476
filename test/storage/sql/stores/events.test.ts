import { expect, test } from 'vitest'
import type { EventFilter } from '../../../../src/storage/storage.ts'
import { BOARD, block, LATER, note, pin, retire } from '../../../../src/testing/testing.ts'
import type { Asked } from '../bare-handles.ts'
import { bareHandle } from '../bare-handles.ts'
import { newFile, openStorage } from '../database-files.ts'

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

test('a page of the audit view counts only the events that were added since the last one', async () => {
  const asked: Asked[] = []
  const storage = await openStorage(bareHandle((one) => void asked.push(one)))
  const ranges = () => asked.splice(0).flatMap(({ sql, parameters }) => (sql.includes('count(*)') ? [parameters] : []))
  const list = (filter: EventFilter) => storage.events.list(filter, { from: { page: 1 }, limit: 1 })
  await note(storage, 20)
  ranges()
  await list({})
  expect(ranges()).toEqual([['0', '20']])
  await list({})
  expect(ranges()).toEqual([])
  await note(storage, 3)
  expect(await list({})).toMatchObject({ total: 23 })
  expect(ranges()).toEqual([['20', '23']])
  expect(await list({ actorId: '8' })).toMatchObject({ total: 0 })
  expect(ranges()).toEqual([[8, '0', '23']])
})

test('a total is right after every prune, also after one of another process, for every filter', async () => {
  const file = newFile()
  const [storage, other] = [await openStorage(file), await openStorage(file)]
  const expectTotals = async (all: number, pins: number, blocks: number): Promise<void> => {
    for (const one of [storage, other]) {
      const total = async (filter: EventFilter) =>
        (await one.events.list(filter, { from: { page: 1 }, limit: 1 })).total
      const { items } = await one.events.list({}, { from: { page: 1 }, limit: 1000 })
      expect([items.length, await total({}), await total({ types: ['issue.pinned'] })]).toEqual([all, all, pins])
      expect(await total({ organizationId: '20' })).toBe(blocks)
      expect(await total({ organizationId: '20', types: ['issue.pinned'] })).toBe(0)
    }
  }

  for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
  await block(storage, '20', '30')
  await note(storage, 5)
  await expectTotals(8, 2, 1)
  await other.events.prune(LATER)
  await expectTotals(2, 2, 0)
  await block(other, '20', '31')
  await expectTotals(3, 2, 1)
  await retire(other, { thing: 'issue', issueId: '1', repositoryId: BOARD.repositoryId, kind: 'issue' })
  await expectTotals(4, 2, 1)
  // The pin of the retired issue is below the floor, and what follows it is still needed.
  await other.events.claim({ name: 'mail', holder: 'one' }, 1000)
  expect(await other.events.prune(LATER)).toBe(1)
  await expectTotals(3, 1, 1)
})
