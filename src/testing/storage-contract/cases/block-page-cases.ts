import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { blockedBy } from './contents.ts'
import { block, unblock } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

const NO_CURSORS = ['', ' ', 'x', '-1', '1.5', '1e3', 'null', '{}', 'undefined', '🦉', "1' or '1'='1", 'A'.repeat(5000)]

/** Cases about pages of blocks, by number and by cursor. */
export const blockPageCases: readonly StorageCase[] = [
  ...[0, 1, 2, 3, 7, 8, 9].map((count) =>
    storageCase(`every page of ${count} blocks is the right slice, at every size`, async (storage) => {
      const users = await blockMany(storage, count)
      for (const limit of [1, 2, 3, 4, 8, 9, 1000]) {
        for (let page = 1; page <= Math.ceil(count / limit) + 2; page++) {
          assert.deepEqual(await usersOfPage(storage, page, limit), {
            users: users.slice((page - 1) * limit, page * limit),
            total: count,
            more: page * limit < count,
          })
        }
      }
    }),
  ),

  storageCase('pages have no gaps after unblocking, at both ends and in between', async (storage) => {
    const users = [...(await blockMany(storage, 30))]
    for (const gone of ['100', '101', '107', '112', '113', '114', '129']) {
      await unblock(storage, '20', gone)
      users.splice(users.indexOf(gone), 1)
      const pages = await Promise.all([1, 2, 3, 4, 5, 6].map((page) => usersOfPage(storage, page, 5)))
      assert.deepEqual(
        pages.flatMap((page) => page.users),
        users,
      )
      assert.deepEqual(new Set(pages.map((page) => page.total)), new Set([users.length]))
    }
  }),

  storageCase('a page far beyond the end is empty and has the total', async (storage) => {
    await blockMany(storage, 3)
    for (const page of [2, 1_000_000, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      for (const limit of [3, 1000]) {
        assert.deepEqual(await usersOfPage(storage, page, limit), { users: [], total: 3, more: false })
      }
    }
  }),

  storageCase('a page contains its requested limit', async (storage) => {
    await blockMany(storage, 3)
    const page = await storage.blocks.page('20', { from: { page: 1 }, limit: 2 })

    assert.equal(page.limit, 2)
  }),

  ...[1, 2, 3, 5, 10, 11, 1000].map((limit) =>
    storageCase(`reading by cursor ${limit} at a time returns every block once, in order`, async (storage) => {
      const users = await blockMany(storage, 10)

      assert.deepEqual(await walk(storage, limit), users)
    }),
  ),

  storageCase('the cursor of any page continues after it', async (storage) => {
    const users = await blockMany(storage, 10)
    for (const page of [1, 2, 3]) {
      const { cursor } = await storage.blocks.page('20', { from: { page }, limit: 3 })
      const next = await storage.blocks.page('20', { from: { after: String(cursor) }, limit: 4 })
      assert.deepEqual(
        next.items.map((one) => one.userId),
        users.slice(page * 3, page * 3 + 4),
      )
      assert.equal(next.total, 10)
    }
  }),

  storageCase(
    'reading by cursor returns no block twice and misses none while others are added and removed',
    async (storage) => {
      await blockMany(storage, 12)
      const seen: string[] = []
      let after: string | undefined
      for (let step = 0; step < 50; step++) {
        const from = after === undefined ? { page: 1 } : { after }
        const page = await storage.blocks.page('20', { from, limit: 3 })
        seen.push(...page.items.map((one) => one.userId))
        if (page.cursor === undefined) break
        after = page.cursor
        if (step === 0) for (const gone of ['100', '102', '104']) await unblock(storage, '20', gone)
        if (step === 1) for (const added of ['200', '100']) await block(storage, '20', added)
      }

      assert.deepEqual(seen, [
        '100',
        '101',
        '102',
        '103',
        '105',
        '106',
        '107',
        '108',
        '109',
        '110',
        '111',
        '200',
        '100',
      ])
    },
  ),

  storageCase('a cursor stays valid when its block is removed', async (storage) => {
    await blockMany(storage, 6)
    const { cursor } = await storage.blocks.page('20', { from: { page: 1 }, limit: 3 })
    for (const gone of ['101', '102', '103']) await unblock(storage, '20', gone)
    const page = await storage.blocks.page('20', { from: { after: String(cursor) }, limit: 3 })

    assert.deepEqual(
      page.items.map((one) => one.userId),
      ['104', '105'],
    )
    assert.equal(page.cursor, undefined)
  }),

  storageCase('a cursor whose remaining blocks are all removed returns an empty page', async (storage) => {
    await blockMany(storage, 4)
    const { cursor } = await storage.blocks.page('20', { from: { page: 1 }, limit: 3 })
    await unblock(storage, '20', '103')

    assert.deepEqual(await storage.blocks.page('20', { from: { after: String(cursor) }, limit: 3 }), {
      items: [],
      total: 3,
      limit: 3,
      cursor: undefined,
    })
  }),

  storageCase('new blocks never shift those of earlier pages', async (storage) => {
    await blockMany(storage, 7)
    const before = await Promise.all([1, 2, 3].map((page) => usersOfPage(storage, page, 2)))
    for (const userId of ['5', '6', '7']) await block(storage, '20', userId)
    const after = await Promise.all([1, 2, 3].map((page) => usersOfPage(storage, page, 2)))

    assert.deepEqual(
      after.map((page) => page.users),
      before.map((page) => page.users),
    )
    assert.deepEqual(await usersOfPage(storage, 4, 2), { users: ['106', '5'], total: 10, more: true })
  }),

  storageCase('page and total agree while blocks are added and removed concurrently', async (storage) => {
    await blockMany(storage, 10)
    const writes = Array.from({ length: 40 }, (_, n) =>
      n % 2 === 0 ? block(storage, '20', String(500 + n)) : unblock(storage, '20', String(100 + (n - 1) / 2)),
    )
    const written = Promise.all(writes)
    written.catch(() => undefined) // awaited below, but the check of a page may fail first
    for (let n = 0; n < 30; n++) {
      const page = await storage.blocks.page('20', { from: { page: 1 }, limit: 1000 })
      assert.equal(page.items.length, page.total)
      await new Promise((done) => setImmediate(done))
    }
    await written

    assert.equal((await blockedBy(storage, '20')).length, 10 + 20 - 10)
  }),

  storageCase('an invalid cursor is invalid input', async (storage) => {
    await blockMany(storage, 3)
    for (const after of NO_CURSORS) {
      await refuses('INVALID_INPUT', () => storage.blocks.page('20', { from: { after }, limit: 3 }))
    }
  }),
]

/** Blocks `count` users, from '100' up, in that order. */
async function blockMany<Tx>(storage: ForgeStorage<Tx>, count: number): Promise<readonly string[]> {
  const userIds = Array.from({ length: count }, (_, n) => String(100 + n))
  for (const userId of userIds) await block(storage, '20', userId)
  return userIds
}

async function usersOfPage<Tx>(
  storage: ForgeStorage<Tx>,
  page: number,
  limit: number,
): Promise<{ readonly users: readonly string[]; readonly total: number; readonly more: boolean }> {
  const { items, total, cursor } = await storage.blocks.page('20', { from: { page }, limit })
  return { users: items.map((one) => one.userId), total, more: cursor !== undefined }
}

async function walk<Tx>(storage: ForgeStorage<Tx>, limit: number): Promise<readonly string[]> {
  const seen: string[] = []
  let { items, cursor } = await storage.blocks.page('20', { from: { page: 1 }, limit })
  seen.push(...items.map((one) => one.userId))
  while (cursor !== undefined) {
    ;({ items, cursor } = await storage.blocks.page('20', { from: { after: cursor }, limit }))
    assert.ok(items.length > 0, 'a cursor is returned only if more blocks follow')
    seen.push(...items.map((one) => one.userId))
    assert.ok(seen.length < 1000, 'the pages come to an end')
  }
  return seen
}
