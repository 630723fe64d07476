import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { fill } from '../samples/aggregates.ts'
import { catalogueOf, define, grant, revoke, slugsHeldBy } from '../samples/badges.ts'
import { block, blockByUser, blockedBy, blockedByUser, unblock } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, fillBoard, issuesOn, pin, row } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { change } from '../samples/sample.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { ofReports, outcomeOf, refuses, storageCase } from './storage-case.ts'

const NO_CURSORS = ['', ' ', 'x', '-1', '1.5', '1e3', 'null', '{}', '🦉', "1' or '1'='1", 'A'.repeat(5000)]

/** Cases about limits and mistakes, which drawn changes do not reach: long texts, long lists, invalid cursors. */
export const sequentialCases: readonly StorageCase[] = [
  storageCase('the longest texts are stored completely, in characters of one byte and of four', async (storage) => {
    for (const [index, character] of ['x', 'é', '日', '🦉'].entries()) {
      const [slug, note] = [character.repeat(255), character.repeat(255)]
      const [description, imageUrl] = [character.repeat(4000), character.repeat(2048)]
      await define(storage, slug, { description, imageUrl })
      await define(storage, `${character.repeat(254)}_`)
      await block(storage, '20', String(index), { note })
      const badge = await storage.badgeCatalogue.find(slug)

      assert.deepEqual([badge?.slug, badge?.description, badge?.imageUrl], [slug, description, imageUrl])
      assert.equal((await storage.blocks.find({ organizationId: '20', userId: String(index) }))?.note, note)
      assert.deepEqual((await outbox(storage)).at(-1)?.data, { note })
    }
    assert.equal((await catalogueOf(storage)).length, 8)
  }),

  storageCase('times are returned to the millisecond, from before 1970 to the year 9999', async (storage) => {
    const times = [0, 1, -1, 1_715_000_000_123, 253_402_300_799_999]
    const rows = times.map((time, index) => row(String(index), new Date(time)))
    await change(storage.pinBoards, BOARD, () => ({ state: rows, events: [], result: undefined }))

    assert.deepEqual(await storage.pinBoards.load(BOARD), rows)
  }),

  storageCase('filtering users works for none, repeated, unknown and 70,000 users', async (storage) => {
    const blocked = ['5', '69999', '999999999']
    for (const userId of blocked) await block(storage, '20', userId)
    const asked = Array.from({ length: 70_000 }, (_, n) => String(n))

    assert.deepEqual(await storage.blocks.among('20', []), new Set())
    assert.deepEqual(await storage.blocks.among('20', ['5', '6', '5']), new Set(['5']))
    assert.deepEqual(await storage.blocks.among('20', asked), new Set(['5', '69999']))
    for (const userId of ['6', '5', '69998']) await blockByUser(storage, '30', userId)
    const blockers = { blockerId: '30', organizationId: '20' }
    assert.deepEqual(await storage.userBlocks.among(blockers, []), { byUser: new Set(), byOrganization: new Set() })
    assert.deepEqual(await storage.userBlocks.among(blockers, asked), {
      byUser: new Set(['6', '5', '69998']),
      byOrganization: new Set(['5', '69999']),
    })
  }),

  storageCase('positions and badges are found for none, repeated, unknown and 70,000 ids', async (storage) => {
    await fill(storage)
    const ids = Array.from({ length: 70_000 }, (_, n) => String(n))
    const placed = await storage.pinBoards.positions([...ids, '1'].map((issueId) => ({ issueId, ...BOARD })))
    const held = await storage.userBadges.heldByMany(['31', ...ids, '31'])
    const holders = [...held.keys()].filter((index) => held[index]?.length !== 0)

    assert.deepEqual(await storage.pinBoards.positions([]), [])
    assert.deepEqual(await storage.userBadges.heldByMany([]), [])
    assert.deepEqual([placed.length, placed.slice(0, 5), placed.at(-1)], [70_001, [undefined, 1, 2, 3, undefined], 1])
    assert.deepEqual(holders, [0, 31, 32, 70_001])
    assert.deepEqual([held[0], held.at(-1)], [held[32], held[32]])
  }),

  storageCase('a decision about a thousand slugs succeeds', async (storage) => {
    const slugs = Array.from({ length: 1000 }, (_, n) => `slug-${n}`)
    for (const slug of ['slug-7', 'slug-999']) await define(storage, slug)
    await grant(storage, '30', slugs)

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['slug-7', 'slug-999'])
  }),

  storageCase('a page far beyond the end is empty and has the total', async (storage) => {
    await fill(storage)
    for (const page of [2, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      const expected = { items: [], total: 3, limit: 1000, cursor: undefined }
      assert.deepEqual(await storage.blocks.page('20', { from: { page }, limit: 1000 }), expected)
      assert.deepEqual((await storage.badgeCatalogue.page({ from: { page }, limit: 3 })).items, [])
      assert.deepEqual((await storage.events.list({}, { from: { page }, limit: 1000 })).items, [])
    }
  }),

  storageCase('a cursor leads on to what followed, though the item before it is gone', async (storage) => {
    await fill(storage)
    const one = { from: { page: 1 }, limit: 1 } as const
    const [blocks, holders] = [await storage.blocks.page('20', one), await storage.userBadges.holders('a', one)]
    for (const { userId } of blocks.items) await unblock(storage, '20', userId)
    for (const { userId } of holders?.items ?? []) await revoke(storage, userId, ['a'])
    const after = ({ cursor = '' }) => ({ from: { after: cursor }, limit: 10 })
    const nextBlocks = await storage.blocks.page('20', after(blocks))
    const nextHolders = await storage.userBadges.holders('a', after(holders ?? {}))
    const nextUsers = nextBlocks.items.map(({ userId }) => userId)

    assert.deepEqual(nextUsers, ['30', '32'])
    assert.deepEqual([holders?.items.length, nextHolders?.items.length, nextHolders?.total], [1, 1, 1])
  }),

  storageCase('a change that beforeCommit requests is made after its own, or refused', async (storage) => {
    const requested: Promise<Outcome>[] = []
    const beforeCommit = () => void requested.push(outcomeOf(() => pin(storage, BOARD, '2')))
    await pin(storage, BOARD, '1', { beforeCommit })
    const outcomes = await Promise.all(requested)
    const made = outcomes.some((outcome) => 'value' in outcome) ? ['1', '2'] : ['1']

    assert.deepEqual(await issuesOn(storage, BOARD), made)
    assert.equal((await outbox(storage)).length, made.length)
  }),

  storageCase('an invalid cursor is invalid input, and so is one of another list', async (storage) => {
    await fill(storage)
    const { cursor: other = '' } = await storage.events.list({}, { from: { page: 1 }, limit: 1 })
    assert.notEqual(other, '')
    for (const after of NO_CURSORS) for (const call of readsAfter(storage, after)) await refuses('INVALID_INPUT', call)
    await refuses('INVALID_INPUT', () => storage.events.read({ after: other, limit: 10 }))
  }),

  storageCase('a retired issue is refused among others that a change adds, and none is added', async (storage) => {
    await retire(storage, { thing: 'issue', issueId: '2', ...BOARD })
    await refuses('ISSUE_NOT_FOUND', () => fillBoard(storage, BOARD, ['7', '2', '9']))

    assert.deepEqual(await issuesOn(storage, BOARD), [])
  }),

  ofReports(
    storageCase('a retired issue leaves every board that has it, of any repository and kind', async (storage) => {
      const kinds = ['issue', 'pullRequest'] as const
      const boards = ['10', '11'].flatMap((repositoryId) => kinds.map((kind) => ({ repositoryId, kind })))
      for (const board of boards) await fillBoard(storage, board, ['1', '2', '3'])
      const [event] = await retire(storage, { thing: 'issue', issueId: '2', repositoryId: '12', kind: 'pullRequest' })

      assert.deepEqual(event?.data, { wasPinned: true })
      for (const board of boards) assert.deepEqual(await issuesOn(storage, board), ['1', '3'])
    }),
  ),

  ofReports(
    storageCase(
      'a user with three hundred blocks, who blocks others, is retired completely, and every total is right',
      async (storage) => {
        const organizationIds = Array.from({ length: 300 }, (_, n) => String(5000 + n))
        for (const organizationId of organizationIds) await block(storage, organizationId, '30')
        await block(storage, '5150', '31')
        for (const userId of ['31', '32']) await blockByUser(storage, '30', userId)
        for (const userId of ['30', '32']) await blockByUser(storage, '31', userId)
        const [event] = await retire(storage, { thing: 'user', userId: '30' })

        assert.deepEqual(event?.data, { blocks: 303, grants: 0 })
        assert.deepEqual(await blockedByUser(storage, '31'), ['32'])
        assert.equal((await storage.userBlocks.page('31', { from: { page: 1 }, limit: 1 })).total, 1)
        await refuses('USER_NOT_FOUND', () => blockedByUser(storage, '30'))
        await refuses('USER_NOT_FOUND', () => blockByUser(storage, '30', '33'))
        assert.deepEqual((await storage.userBlocks.among({ blockerId: '30' }, ['31', '32'])).byUser, new Set())
        assert.deepEqual(await blockedBy(storage, '5150'), ['31'])
        assert.deepEqual(await blockedBy(storage, '5299'), [])
      },
    ),
  ),
]

function readsAfter<Tx>(storage: ForgeStorage<Tx>, after: string): readonly (() => unknown)[] {
  const query = { from: { after }, limit: 2 }
  return [
    () => storage.blocks.page('20', query),
    () => storage.badgeCatalogue.page(query),
    () => storage.userBadges.holders('a', query),
    () => storage.events.list({}, query),
    () => storage.events.read({ after, limit: 2 }),
  ]
}
