import assert from 'node:assert/strict'
import { blockedBy, blocksOf, outbox } from './contents.ts'
import { block, NOON, unblock } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

/** Cases about blocks of users by organizations. */
export const blockCases: readonly StorageCase[] = [
  storageCase('an organization that blocks nobody has an empty page and no block to find', async (storage) => {
    assert.deepEqual(await storage.blocks.page('20', { from: { page: 1 }, limit: 30 }), {
      items: [],
      total: 0,
      limit: 30,
      cursor: undefined,
    })
    assert.equal(await storage.blocks.find({ organizationId: '20', userId: '30' }), undefined)
  }),

  storageCase('a block keeps its note, when and by whom', async (storage) => {
    await block(storage, '20', '30', { note: 'spam' })
    const expected = { organizationId: '20', userId: '30', note: 'spam', blockedAt: NOON, blockedBy: '7' }

    assert.deepEqual(await storage.blocks.find({ organizationId: '20', userId: '30' }), expected)
    assert.deepEqual(await blocksOf(storage, '20'), [expected])
  }),

  storageCase('blocks are listed oldest first, and a user blocked again goes last', async (storage) => {
    for (const userId of ['33', '31', '32']) await block(storage, '20', userId)
    assert.deepEqual(await blockedBy(storage, '20'), ['33', '31', '32'])
    await unblock(storage, '20', '33')
    await block(storage, '20', '33')

    assert.deepEqual(await blockedBy(storage, '20'), ['31', '32', '33'])
  }),

  storageCase('a user unblocked as the newest and blocked again is listed once', async (storage) => {
    for (const userId of ['31', '32']) await block(storage, '20', userId)
    await unblock(storage, '20', '32')
    await block(storage, '20', '33')
    await block(storage, '20', '32')

    assert.deepEqual(await blockedBy(storage, '20'), ['31', '33', '32'])
  }),

  storageCase('blocks of two organizations never touch each other', async (storage) => {
    for (const userId of ['31', '32']) await block(storage, '20', userId)
    for (const userId of ['32', '33', '34']) await block(storage, '21', userId)
    await unblock(storage, '20', '32')

    assert.deepEqual(await blockedBy(storage, '20'), ['31'])
    assert.deepEqual(await blockedBy(storage, '21'), ['32', '33', '34'])
    assert.deepEqual(await storage.blocks.among('20', ['31', '32', '33']), new Set(['31']))
  }),

  storageCase('the block that a decision sees is that of its key', async (storage) => {
    await block(storage, '20', '30', { note: 'first' })

    await refuses('ALREADY_BLOCKED', () => block(storage, '20', '30'))
    await block(storage, '20', '31')
    await block(storage, '21', '30', { note: 'other' })
    const found = await storage.blocks.find({ organizationId: '20', userId: '30' })
    assert.equal(found?.note, 'first')
  }),

  storageCase('among answers for none, one, repeated and unknown users', async (storage) => {
    await block(storage, '20', '30')

    assert.deepEqual(await storage.blocks.among('20', []), new Set())
    assert.deepEqual(await storage.blocks.among('20', ['30']), new Set(['30']))
    assert.deepEqual(await storage.blocks.among('20', ['30', '31', '30']), new Set(['30']))
    assert.deepEqual(await storage.blocks.among('20', ['31', '32']), new Set())
    assert.deepEqual(await storage.blocks.among('21', ['30']), new Set())
  }),

  ...[1000, 70_000].map((count) =>
    storageCase(`among answers for ${count} users at once`, async (storage) => {
      const blocked = ['5', String(count - 1), '999999999']
      for (const userId of blocked) await block(storage, '20', userId)
      const asked = Array.from({ length: count }, (_, n) => String(n))

      assert.deepEqual(await storage.blocks.among('20', asked), new Set(['5', String(count - 1)]))
    }),
  ),

  storageCase('a hundred users blocked at once are all there, each once, and counted', async (storage) => {
    const userIds = Array.from({ length: 100 }, (_, n) => String(1000 + n))
    await Promise.all(userIds.map((userId) => block(storage, '20', userId)))

    assert.deepEqual((await blockedBy(storage, '20')).toSorted(), userIds)
    assert.deepEqual(
      (await outbox(storage)).map((event) => event.userId),
      await blockedBy(storage, '20'),
    )
  }),

  storageCase('one user blocked and unblocked at once from many sides is counted right', async (storage) => {
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
