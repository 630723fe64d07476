import assert from 'node:assert/strict'
import { slugsHeldBy } from './contents.ts'
import { change, define, done, grant, NOON, revoke } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

/** Cases about the badges of a user. */
export const userBadges: readonly StorageCase[] = [
  storageCase('a user who holds nothing has an empty case', async (storage) => {
    assert.deepEqual(await storage.userBadges.heldBy('30'), [])
  }),

  storageCase('a decision sees the definitions that exist, of the slugs asked for', async (storage) => {
    const owl = await define(storage, 'night-owl', { description: 'Ships after midnight' })
    await define(storage, 'early-bird')
    const outcome = await change(storage.userBadges, { userId: '30', slugs: ['night-owl', 'dodo'] }, (state) => ({
      state,
      events: [],
      result: structuredClone(state),
    }))

    assert.deepEqual(done(outcome).result, {
      known: [{ id: owl, slug: 'night-owl', description: 'Ships after midnight', imageUrl: '' }],
      held: [],
    })
  }),

  storageCase('a decision sees the grants of its user, of the slugs asked for', async (storage) => {
    for (const slug of ['a', 'b', 'c']) await define(storage, slug)
    await grant(storage, '30', ['a', 'b'])
    await grant(storage, '31', ['c'])
    const outcome = await change(storage.userBadges, { userId: '30', slugs: ['b', 'c'] }, (state) => ({
      state,
      events: [],
      result: state.held.map((one) => one.badge.slug),
    }))

    assert.deepEqual(done(outcome).result, ['b'])
  }),

  storageCase('a grant keeps its badge, when and by whom', async (storage) => {
    const id = await define(storage, 'night-owl', { description: 'Ships after midnight' })
    await grant(storage, '30', ['night-owl'])
    const badge = { id, slug: 'night-owl', description: 'Ships after midnight', imageUrl: '' }

    assert.deepEqual(await storage.userBadges.heldBy('30'), [{ badge, grantedAt: NOON, grantedBy: '7' }])
  }),

  storageCase('grants are listed oldest first, those of one change in its order', async (storage) => {
    for (const slug of ['a', 'b', 'c', 'd']) await define(storage, slug)
    await grant(storage, '30', ['c'])
    await grant(storage, '30', ['d', 'a'])
    await grant(storage, '30', ['b'])
    assert.deepEqual(await slugsHeldBy(storage, '30'), ['c', 'd', 'a', 'b'])
    await revoke(storage, '30', ['d'])
    await grant(storage, '30', ['d'])

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['c', 'a', 'b', 'd'])
  }),

  storageCase('a change of some slugs leaves the grants of the others', async (storage) => {
    for (const slug of ['a', 'b', 'c']) await define(storage, slug)
    await grant(storage, '30', ['a', 'b', 'c'])
    await revoke(storage, '30', ['b', 'dodo'])

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['a', 'c'])
  }),

  storageCase('badges of two users never touch each other', async (storage) => {
    for (const slug of ['a', 'b']) await define(storage, slug)
    await grant(storage, '30', ['a', 'b'])
    await grant(storage, '31', ['b'])
    await revoke(storage, '30', ['b'])

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['a'])
    assert.deepEqual(await slugsHeldBy(storage, '31'), ['b'])
  }),

  storageCase('a grant shows the definition as it is now', async (storage) => {
    await define(storage, 'night-owl', { description: 'before' })
    await grant(storage, '30', ['night-owl'])
    await change(storage.badgeCatalogue, { slug: 'night-owl' }, (entry) => ({
      state: {
        ...entry,
        badge: entry.badge && { ...entry.badge, description: 'after', imageUrl: 'https://example.com/o.png' },
      },
      events: [],
      result: undefined,
    }))
    const [held] = await storage.userBadges.heldBy('30')

    assert.equal(held?.badge.description, 'after')
    assert.equal(held?.badge.imageUrl, 'https://example.com/o.png')
  }),

  storageCase('one badge granted fifty times at once is held once', async (storage) => {
    await define(storage, 'a')
    await Promise.all(Array.from({ length: 50 }, () => grant(storage, '30', ['a'])))

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['a'])
  }),

  storageCase('a decision about a thousand slugs is answered', async (storage) => {
    const slugs = Array.from({ length: 1000 }, (_, n) => `slug-${n}`)
    for (const slug of ['slug-7', 'slug-999']) await define(storage, slug)
    await grant(storage, '30', slugs)

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['slug-7', 'slug-999'])
  }),
]
