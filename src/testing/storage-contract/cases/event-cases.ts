import assert from 'node:assert/strict'
import { outbox } from './contents.ts'
import { EXPECTED_EVENTS, everyKindOfChange, summaryOf } from './event-samples.ts'
import { BOARD, block, moveToFront, pin, retire, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses, storageCase } from './storage-case.ts'

const NO_CURSORS = ['', ' ', 'x', '-1', '1.5', '1e3', 'null', '{}', '🦉', "1' or '1'='1", 'A'.repeat(5000)]

/** Cases about the table of events: outbox, audit view and history. */
export const eventCases: readonly StorageCase[] = [
  storageCase('the outbox of an empty storage is empty, and its cursor returns later events', async (storage) => {
    const empty = await storage.events.read({ after: undefined, limit: 10 })
    assert.deepEqual(empty.events, [])
    const again = await storage.events.read({ after: empty.cursor, limit: 10 })
    assert.deepEqual(again.events, [])
    await pin(storage, BOARD, '1')
    for (const { cursor } of [empty, again]) {
      const { events } = await storage.events.read({ after: cursor, limit: 10 })
      assert.deepEqual(
        events.map((event) => event.issueId),
        ['1'],
      )
    }
  }),

  storageCase('the outbox has every change once, in order, with subject and data', async (storage) => {
    await everyKindOfChange(storage)

    assert.deepEqual((await outbox(storage)).map(summaryOf), EXPECTED_EVENTS)
  }),

  ...[1, 2, 3, 1000].map((limit) =>
    storageCase(`the outbox read ${limit} at a time returns the same events`, async (storage) => {
      await everyKindOfChange(storage)

      assert.deepEqual((await outbox(storage, limit)).map(summaryOf), EXPECTED_EVENTS)
    }),
  ),

  storageCase('a cursor at the end continues with later events, and can be used again', async (storage) => {
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const { cursor } = await storage.events.read({ after: undefined, limit: 1000 })
    assert.deepEqual(await storage.events.read({ after: cursor, limit: 5 }), { events: [], cursor })
    for (const issueId of ['4', '5']) await pin(storage, BOARD, issueId)
    for (let again = 0; again < 2; again++) {
      const { events } = await storage.events.read({ after: cursor, limit: 5 })
      assert.deepEqual(
        events.map((event) => event.issueId),
        ['4', '5'],
      )
    }
  }),

  storageCase('a reader beside many writers misses no event and reads none twice', async (storage) => {
    const seen: string[] = []
    let after: string | undefined
    const readOn = async () => {
      const { events, cursor } = await storage.events.read({ after, limit: 7 })
      seen.push(...events.map((event) => event.id))
      after = cursor
      return events.length
    }
    const writes = Array.from({ length: 100 }, async (_, n) => {
      for (let pause = n % 5; pause > 0; pause--) await new Promise((done) => setImmediate(done))
      await pin(storage, { ...BOARD, repositoryId: String(n % 9) }, String(n))
    })
    let writing = true
    const finished = Promise.all(writes).then(() => {
      writing = false
    })
    finished.catch(() => undefined) // awaited below, but a read may fail first
    while (writing) {
      await readOn()
      await new Promise((done) => setImmediate(done))
    }
    await finished
    while ((await readOn()) > 0);

    assert.deepEqual(
      seen,
      (await outbox(storage)).map((event) => event.id),
    )
    assert.equal(new Set(seen).size, 100)
  }),

  storageCase('an invalid cursor is invalid input, in the outbox and in the audit view', async (storage) => {
    await pin(storage, BOARD, '1')
    for (const after of NO_CURSORS) {
      await refuses('INVALID_INPUT', () => storage.events.read({ after, limit: 10 }))
      await refuses('INVALID_INPUT', () => storage.events.list({}, { from: { after }, limit: 10 }))
    }
  }),

  storageCase('a cursor of the audit view is not a cursor of the outbox', async (storage) => {
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const { cursor } = await storage.events.list({}, { from: { page: 1 }, limit: 1 })

    assert.ok(cursor !== undefined)
    await refuses('INVALID_INPUT', () => storage.events.read({ after: cursor, limit: 10 }))
  }),

  storageCase('event ids are never reused, even after a rollback', async (storage) => {
    await pin(storage, BOARD, '1')
    const beforeCommit = () => {
      throw new Error('no')
    }
    await outcomeOf(() => pin(storage, BOARD, '2', { beforeCommit }))
    await pin(storage, BOARD, '3')
    const ids = (await outbox(storage)).map((event) => event.id)

    assert.equal(ids.length, 2)
    assert.equal(new Set(ids).size, 2)
  }),

  storageCase('the history of an issue contains its pins and unpins, in order', async (storage) => {
    for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
    await moveToFront(storage, BOARD, '2')
    await unpin(storage, BOARD, '2')
    await pin(storage, BOARD, '2')
    await unpin(storage, BOARD, '1')
    await block(storage, '2', '2')
    const all = await outbox(storage)
    const history = await storage.events.history('2')

    assert.deepEqual(
      history.map((event) => [event.type, event.data.position]),
      [
        ['issue.pinned', 2],
        ['issue.unpinned', 1],
        ['issue.pinned', 2],
      ],
    )
    assert.deepEqual(
      history,
      all.filter((event) => event.issueId === '2' && event.type !== 'issue.moved'),
    )
    assert.deepEqual(await storage.events.history('99'), [])
  }),

  storageCase('the history of an issue remains after the issue is deleted', async (storage) => {
    await pin(storage, BOARD, '1')
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD })

    assert.deepEqual(
      (await storage.events.history('1')).map((event) => event.type),
      ['issue.pinned'],
    )
  }),
]
