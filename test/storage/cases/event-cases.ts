import assert from 'node:assert/strict'
import type { ForgeEvent, ForgeEventType } from '../../../src/schema/events.ts'
import type { EventFilter } from '../../../src/storage/contract/event-store.ts'
import type { ForgeStorage } from '../../../src/storage/contract/forge-storage.ts'
import { outbox } from './contents.ts'
import { BOARD, block, define, grant, moveToFront, pin, retire, unblock, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses, storageCase } from './storage-case.ts'

const NO_CURSORS = ['', ' ', 'x', '-1', '1.5', '1e3', 'null', '{}', '🦉', "1' or '1'='1", 'A'.repeat(5000)]

/** The table of events: outbox, audit view and history. */
export const eventCases: readonly StorageCase[] = [
  storageCase('the outbox of an empty storage is empty, and its cursor waits for what comes', async (storage) => {
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

  storageCase('the outbox tells every change once, in order, with subject and data', async (storage) => {
    await everyKindOfChange(storage)

    assert.deepEqual((await outbox(storage)).map(told), TOLD)
  }),

  ...[1, 2, 3, 1000].map((limit) =>
    storageCase(`the outbox read ${limit} at a time gives the same events`, async (storage) => {
      await everyKindOfChange(storage)

      assert.deepEqual((await outbox(storage, limit)).map(told), TOLD)
    }),
  ),

  storageCase('a cursor at the end resumes with what came after it, and can be used again', async (storage) => {
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

  storageCase('a reader beside many writers misses nothing and sees nothing twice', async (storage) => {
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

  storageCase('a text that is no cursor is invalid input, in the outbox and in the audit view', async (storage) => {
    await pin(storage, BOARD, '1')
    for (const after of NO_CURSORS) {
      await refuses('INVALID_INPUT', () => storage.events.read({ after, limit: 10 }))
      await refuses('INVALID_INPUT', () => storage.events.list({}, { from: { after }, limit: 10 }))
    }
  }),

  storageCase('ids of events are never given out twice, also after a change was rolled back', async (storage) => {
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

  storageCase('the audit view shows the newest first, in pages by number and by cursor', async (storage) => {
    await everyKindOfChange(storage)
    const newestFirst = (await outbox(storage)).toReversed()
    const pages = await Promise.all(
      [1, 2, 3, 4, 99].map((page) => storage.events.list({}, { from: { page }, limit: 5 })),
    )
    assert.deepEqual(
      pages.map((page) => page.items),
      [newestFirst.slice(0, 5), newestFirst.slice(5, 10), newestFirst.slice(10, 15), [], []],
    )
    assert.deepEqual(
      pages.map((page) => [page.total, page.limit, page.cursor !== undefined]),
      [true, true, false, false, false].map((more) => [TOLD.length, 5, more]),
    )
    const rest = await storage.events.list({}, { from: { after: String(pages[0]?.cursor) }, limit: 1000 })

    assert.deepEqual(rest.items, newestFirst.slice(5))
    assert.equal(rest.cursor, undefined)
  }),

  storageCase('an event that comes while the audit view is walked by cursor moves nothing', async (storage) => {
    for (const issueId of ['1', '2', '3', '4']) await pin(storage, BOARD, issueId)
    const first = await storage.events.list({}, { from: { page: 1 }, limit: 2 })
    await pin(storage, BOARD, '5')
    const second = await storage.events.list({}, { from: { after: String(first.cursor) }, limit: 2 })

    assert.deepEqual(
      [...first.items, ...second.items].map((event) => event.issueId),
      ['4', '3', '2', '1'],
    )
  }),

  ...filterCases(),

  storageCase('the history of an issue is its pins and unpins, in order', async (storage) => {
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

  storageCase('the history of an issue outlives it', async (storage) => {
    await pin(storage, BOARD, '1')
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD })

    assert.deepEqual(
      (await storage.events.history('1')).map((event) => event.type),
      ['issue.pinned'],
    )
  }),

  storageCase('of given ids, those of committed events are told', async (storage) => {
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const ids = (await outbox(storage)).map((event) => event.id)
    const [first = '', , third = ''] = ids

    assert.deepEqual(await storage.events.committed([]), new Set())
    assert.deepEqual(await storage.events.committed([third, '999999999', first, '0', '-1']), new Set([first, third]))
    assert.deepEqual(await storage.events.committed(ids), new Set(ids))
  }),
]

function filterCases(): readonly StorageCase[] {
  const types = (...names: ForgeEventType[]) => ({ types: names })
  const filters: readonly (readonly [EventFilter, (event: ForgeEvent) => boolean])[] = [
    [{ repositoryId: '10' }, (event) => event.repositoryId === '10'],
    [{ organizationId: '20' }, (event) => event.organizationId === '20'],
    [{ userId: '30' }, (event) => event.userId === '30'],
    [{ actorId: '7' }, (event) => event.actorId === '7'],
    [types('issue.pinned', 'user.deleted'), ({ type }) => type === 'issue.pinned' || type === 'user.deleted'],
    [types(), () => false],
    [
      { organizationId: '20', userId: '30', ...types('user.blocked') },
      (event) => event.organizationId === '20' && event.userId === '30' && event.type === 'user.blocked',
    ],
    [{ repositoryId: '20' }, () => false],
    [{ actorId: undefined, types: undefined }, () => true],
  ]
  return filters.map(([filter, matches]) =>
    storageCase(
      `the audit view narrowed by ${JSON.stringify(filter)} shows and counts what matches`,
      async (storage) => {
        await everyKindOfChange(storage)
        const expected = (await outbox(storage)).filter(matches).toReversed()
        const page = await storage.events.list(filter, { from: { page: 1 }, limit: 1000 })
        const second = await storage.events.list(filter, { from: { page: 2 }, limit: 1 })

        assert.deepEqual(page, { items: expected, total: expected.length, limit: 1000, cursor: undefined })
        assert.deepEqual(second.items, expected.slice(1, 2))
        assert.equal(second.total, expected.length)
      },
    ),
  )
}

async function everyKindOfChange(storage: ForgeStorage): Promise<void> {
  await define(storage, 'night-owl')
  await pin(storage, BOARD, '1')
  await pin(storage, { repositoryId: '11', kind: 'pullRequest' }, '2', { by: { actorId: null, at: () => new Date(5) } })
  await pin(storage, BOARD, '3')
  await moveToFront(storage, BOARD, '3')
  await unpin(storage, BOARD, '1')
  await block(storage, '20', '30', { note: 'spam 🐟' })
  await block(storage, '21', '30', { by: { actorId: '8', at: () => new Date(6) } })
  await unblock(storage, '20', '30')
  await grant(storage, '30', ['night-owl'])
  await retire(storage, { thing: 'issue', issueId: '3', ...BOARD }, { by: { actorId: null, at: () => new Date(7) } })
  await retire(storage, { thing: 'user', userId: '30' })
  await retire(storage, { thing: 'organization', organizationId: '20' })
  await retire(storage, { thing: 'repository', repositoryId: '11' })
}

function told(event: ForgeEvent): readonly unknown[] {
  const { type, data, organizationId, repositoryId, issueId, userId, actorId } = event
  return [type, data, organizationId, repositoryId, issueId, userId, actorId]
}

const TOLD: readonly (readonly unknown[])[] = [
  ['badge.defined', { slug: 'night-owl' }, null, null, null, null, '7'],
  ['issue.pinned', { position: 1 }, null, '10', '1', null, '7'],
  ['issue.pinned', { position: 1 }, null, '11', '2', null, null],
  ['issue.pinned', { position: 2 }, null, '10', '3', null, '7'],
  ['issue.moved', { from: 2, to: 1 }, null, '10', '3', null, '7'],
  ['issue.unpinned', { position: 2 }, null, '10', '1', null, '7'],
  ['user.blocked', { note: 'spam 🐟' }, '20', null, null, '30', '7'],
  ['user.blocked', { note: '' }, '21', null, null, '30', '8'],
  ['user.unblocked', {}, '20', null, null, '30', '7'],
  ['badge.granted', { slug: 'night-owl' }, null, null, null, '30', '7'],
  ['issue.deleted', { wasPinned: true }, null, '10', '3', null, null],
  ['user.deleted', { blocks: 1, grants: 1 }, null, null, null, '30', '7'],
  ['organization.deleted', { blocks: 0 }, '20', null, null, null, '7'],
  ['repository.deleted', { pins: 1 }, null, '11', null, null, '7'],
]
