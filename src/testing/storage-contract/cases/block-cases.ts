import assert from 'node:assert/strict'
import type { BlockKey, BlockState } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregate-sample.ts'
import { aggregateSample } from './aggregate-sample.ts'
import { blockedBy, blocksOf, outbox } from './contents.ts'
import { block, NO_SUBJECT, NOON, unblock } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

const BLOCK_KEY: BlockKey = { organizationId: '20', userId: '30' }

/** The sample of the blocks. */
export const blockSample: AggregateSample = aggregateSample<BlockKey, BlockState>({
  name: 'a block',
  store: (storage) => storage.blocks,
  key: BLOCK_KEY,
  contents: (storage) => blocksOf(storage, BLOCK_KEY.organizationId),
  alter: (before) =>
    before.block === undefined
      ? {
          state: { ...before, block: { ...BLOCK_KEY, note: 'why', blockedAt: NOON, blockedBy: null } },
          events: [{ ...NO_SUBJECT, type: 'user.blocked', data: { note: 'why' }, ...BLOCK_KEY }],
          result: 'altered',
        }
      : {
          state: { ...before, block: undefined },
          events: [{ ...NO_SUBJECT, type: 'user.unblocked', data: {}, ...BLOCK_KEY }],
          result: 'altered',
        },
})

/** Cases about blocks of users by organizations. */
export const blockCases: readonly StorageCase[] = [
  storageCase('an organization without blocks has an empty page and finds no block', async (storage) => {
    assert.deepEqual(await storage.blocks.page('20', { from: { page: 1 }, limit: 30 }), {
      items: [],
      total: 0,
      limit: 30,
      cursor: undefined,
    })
    assert.equal(await storage.blocks.find({ organizationId: '20', userId: '30' }), undefined)
  }),

  storageCase('a block keeps its note, its time and who created it', async (storage) => {
    await block(storage, '20', '30', { note: 'spam' })
    const expected = { organizationId: '20', userId: '30', note: 'spam', blockedAt: NOON, blockedBy: '7' }

    assert.deepEqual(await storage.blocks.find({ organizationId: '20', userId: '30' }), expected)
    assert.deepEqual(await blocksOf(storage, '20'), [expected])
  }),

  storageCase('blocks are listed oldest first, and a user blocked again is last', async (storage) => {
    for (const userId of ['33', '31', '32']) await block(storage, '20', userId)
    assert.deepEqual(await blockedBy(storage, '20'), ['33', '31', '32'])
    await unblock(storage, '20', '33')
    await block(storage, '20', '33')

    assert.deepEqual(await blockedBy(storage, '20'), ['31', '32', '33'])
  }),

  storageCase('the most recently blocked user, unblocked and blocked again, is listed once', async (storage) => {
    for (const userId of ['31', '32']) await block(storage, '20', userId)
    await unblock(storage, '20', '32')
    await block(storage, '20', '33')
    await block(storage, '20', '32')

    assert.deepEqual(await blockedBy(storage, '20'), ['31', '33', '32'])
  }),

  storageCase('blocks of two organizations are independent', async (storage) => {
    for (const userId of ['31', '32']) await block(storage, '20', userId)
    for (const userId of ['32', '33', '34']) await block(storage, '21', userId)
    await unblock(storage, '20', '32')

    assert.deepEqual(await blockedBy(storage, '20'), ['31'])
    assert.deepEqual(await blockedBy(storage, '21'), ['32', '33', '34'])
    assert.deepEqual(await storage.blocks.among('20', ['31', '32', '33']), new Set(['31']))
  }),

  storageCase('a decision sees the block of its key', async (storage) => {
    await block(storage, '20', '30', { note: 'first' })

    await refuses('ALREADY_BLOCKED', () => block(storage, '20', '30'))
    await block(storage, '20', '31')
    await block(storage, '21', '30', { note: 'other' })
    const found = await storage.blocks.find({ organizationId: '20', userId: '30' })
    assert.equal(found?.note, 'first')
  }),

  storageCase('filtering users works for none, one, repeated and unknown users', async (storage) => {
    await block(storage, '20', '30')

    assert.deepEqual(await storage.blocks.among('20', []), new Set())
    assert.deepEqual(await storage.blocks.among('20', ['30']), new Set(['30']))
    assert.deepEqual(await storage.blocks.among('20', ['30', '31', '30']), new Set(['30']))
    assert.deepEqual(await storage.blocks.among('20', ['31', '32']), new Set())
    assert.deepEqual(await storage.blocks.among('21', ['30']), new Set())
  }),

  ...[1000, 70_000].map((count) =>
    storageCase(`filtering users works for ${count} users at once`, async (storage) => {
      const blocked = ['5', String(count - 1), '999999999']
      for (const userId of blocked) await block(storage, '20', userId)
      const asked = Array.from({ length: count }, (_, n) => String(n))

      assert.deepEqual(await storage.blocks.among('20', asked), new Set(['5', String(count - 1)]))
    }),
  ),

  storageCase('a hundred users blocked concurrently are each listed once, and counted', async (storage) => {
    const userIds = Array.from({ length: 100 }, (_, n) => String(1000 + n))
    await Promise.all(userIds.map((userId) => block(storage, '20', userId)))

    assert.deepEqual((await blockedBy(storage, '20')).toSorted(), userIds)
    assert.deepEqual(
      (await outbox(storage)).map((event) => event.userId),
      await blockedBy(storage, '20'),
    )
  }),

  storageCase('one user blocked and unblocked concurrently is counted correctly', async (storage) => {
    const work = Array.from({ length: 60 }, (_, n) =>
      n % 2 === 0 ? block(storage, '20', String(n % 6)) : unblock(storage, '20', String((n - 1) % 6)),
    )
    await Promise.allSettled(work)
    const left = new Set<string | null>()
    for (const event of await outbox(storage)) {
      if (event.type === 'user.blocked') left.add(event.userId)
      if (event.type === 'user.unblocked') left.delete(event.userId)
    }

    assert.deepEqual(new Set(await blockedBy(storage, '20')), left)
  }),
]
