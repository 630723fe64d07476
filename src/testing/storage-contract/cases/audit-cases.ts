import assert from 'node:assert/strict'
import type { ForgeEvent, ForgeEventType } from '../../../index.ts'
import type { EventFilter, ForgeStorage } from '../../../storage/storage.ts'
import { outbox } from './contents.ts'
import { EXPECTED_EVENTS, everyKindOfChange } from './event-samples.ts'
import { whileWaiting } from './gate.ts'
import { LATER, note } from './prune-samples.ts'
import { BOARD, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, storageCase } from './storage-case.ts'

/** Cases about the audit view: events with the newest first, and filters. */
export const auditCases: readonly StorageCase[] = [
  storageCase('the audit view lists the newest events first, in pages by number and by cursor', async (storage) => {
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
      [true, true, false, false, false].map((more) => [EXPECTED_EVENTS.length, 5, more]),
    )
    const rest = await storage.events.list({}, { from: { after: String(pages[0]?.cursor) }, limit: 1000 })

    assert.deepEqual(rest.items, newestFirst.slice(5))
    assert.equal(rest.cursor, undefined)
  }),

  storageCase('an event added while the audit view is read by cursor shifts no page', async (storage) => {
    for (const issueId of ['1', '2', '3', '4']) await pin(storage, BOARD, issueId)
    const first = await storage.events.list({}, { from: { page: 1 }, limit: 2 })
    await pin(storage, BOARD, '5')
    const second = await storage.events.list({}, { from: { after: String(first.cursor) }, limit: 2 })

    assert.deepEqual(
      [...first.items, ...second.items].map((event) => event.issueId),
      ['4', '3', '2', '1'],
    )
  }),

  storageCase(
    'the audit view counts what was added, read by consumers and removed since the last page',
    async (storage) => {
      await expectTotal(storage, {}, 0)
      await pin(storage, BOARD, '1')
      await note(storage, 5)
      await expectTotal(storage, {}, 6)
      await outbox(storage)
      await note(storage, 2)
      await expectTotal(storage, {}, 8)
      await expectTotal(storage, { types: ['issue.pinned'] }, 1)
      assert.equal(await storage.events.prune(LATER), 7)
      await expectTotal(storage, {}, 1)
      await pin(storage, BOARD, '2')
      await retire(storage, { thing: 'issue', issueId: '1', repositoryId: BOARD.repositoryId, kind: 'issue' })
      await expectTotal(storage, { types: ['issue.pinned'] }, 2)
      await storage.events.prune(LATER)
      await expectTotal(storage, { types: ['issue.pinned'] }, 1)
      await expectTotal(storage, {}, 1)
    },
  ),

  ...(['commit', 'rollback'] as const).map((end) =>
    hostCase(
      `the audit view counts an event of a host’s transaction that ${end === 'commit' ? 'commits late' : 'is rolled back'} as it lists it`,
      ['again', 'begin'],
      async (storage, bench) => {
        const reader = await bench.again()
        const host = await bench.begin()
        await pin(storage, BOARD, '1', { transaction: host.transaction })
        const quick = pin(storage, { ...BOARD, repositoryId: '11' }, '2')
        await whileWaiting(quick)
        await expectListed(reader)
        await outbox(reader)
        await expectListed(reader)
        await host[end]()
        await quick
        await expectTotal(reader, {}, end === 'commit' ? 2 : 1)
        await outbox(reader)
        await expectTotal(reader, {}, end === 'commit' ? 2 : 1)
      },
    ),
  ),

  ...filterCases(),
]

/** Checks the total of a filter, and that the view lists as many events. */
async function expectTotal<Tx>(storage: ForgeStorage<Tx>, filter: EventFilter, total: number): Promise<void> {
  const page = await storage.events.list(filter, { from: { page: 1 }, limit: 1000 })
  assert.deepEqual([page.total, page.items.length], [total, total])
}

/** Checks that the view counts the events that it lists. */
async function expectListed<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  const page = await storage.events.list({}, { from: { page: 1 }, limit: 1000 })
  assert.equal(page.total, page.items.length)
}

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
      `the audit view filtered by ${JSON.stringify(filter)} lists and counts what matches`,
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
