import assert from 'node:assert/strict'
import type { UserBadgesKey, UserBadgesState } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregate-sample.ts'
import { aggregateSample } from './aggregate-sample.ts'
import { slugsHeldBy } from './contents.ts'
import { change, define, grant, NO_SUBJECT, NOON, revoke } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

/** The sample of the badges of users. */
export const userBadgesSample: AggregateSample = aggregateSample<UserBadgesKey, UserBadgesState>({
  name: 'a user’s badges',
  store: (storage) => storage.userBadges,
  key: { userId: '30', slugs: ['night-owl'] },
  contents: (storage) => storage.userBadges.heldBy('30'),
  alter: ({ known, held }) => ({
    state: { known, held: held.length > 0 ? [] : known.map((badge) => ({ badge, grantedAt: NOON, grantedBy: null })) },
    events: [
      {
        ...NO_SUBJECT,
        type: held.length > 0 ? 'badge.revoked' : 'badge.granted',
        data: { slug: 'night-owl' },
        userId: '30',
      },
    ],
    result: 'altered',
  }),
})

/** Cases about the badges of a user. */
export const userBadgesCases: readonly StorageCase[] = [
  storageCase('a user without badges has an empty list', async (storage) => {
    assert.deepEqual(await storage.userBadges.heldBy('30'), [])
  }),

  storageCase('a decision sees the existing definitions of the requested slugs', async (storage) => {
    const owl = await define(storage, 'night-owl', { description: 'Ships after midnight' })
    await define(storage, 'early-bird')
    const outcome = await change(storage.userBadges, { userId: '30', slugs: ['night-owl', 'dodo'] }, (state) => ({
      state,
      events: [],
      result: structuredClone(state),
    }))

    assert.deepEqual(outcome.result, {
      known: [{ id: owl, slug: 'night-owl', description: 'Ships after midnight', imageUrl: '' }],
      held: [],
    })
  }),

  storageCase('a decision sees the user’s grants of the requested slugs', async (storage) => {
    for (const slug of ['a', 'b', 'c']) await define(storage, slug)
    await grant(storage, '30', ['a', 'b'])
    await grant(storage, '31', ['c'])
    const outcome = await change(storage.userBadges, { userId: '30', slugs: ['b', 'c'] }, (state) => ({
      state,
      events: [],
      result: state.held.map((one) => one.badge.slug),
    }))

    assert.deepEqual(outcome.result, ['b'])
  }),

  storageCase('a grant keeps its badge, its time and who granted it', async (storage) => {
    const id = await define(storage, 'night-owl', { description: 'Ships after midnight' })
    await grant(storage, '30', ['night-owl'])
    const badge = { id, slug: 'night-owl', description: 'Ships after midnight', imageUrl: '' }

    assert.deepEqual(await storage.userBadges.heldBy('30'), [{ badge, grantedAt: NOON, grantedBy: '7' }])
  }),

  storageCase('grants are listed oldest first, and those of one change in its order', async (storage) => {
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

  storageCase('badges of two users are independent', async (storage) => {
    for (const slug of ['a', 'b']) await define(storage, slug)
    await grant(storage, '30', ['a', 'b'])
    await grant(storage, '31', ['b'])
    await revoke(storage, '30', ['b'])

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['a'])
    assert.deepEqual(await slugsHeldBy(storage, '31'), ['b'])
  }),

  storageCase('a grant shows the current definition', async (storage) => {
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

  storageCase('one badge granted fifty times concurrently is held once', async (storage) => {
    await define(storage, 'a')
    await Promise.all(Array.from({ length: 50 }, () => grant(storage, '30', ['a'])))

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['a'])
  }),

  storageCase('a decision about a thousand slugs succeeds', async (storage) => {
    const slugs = Array.from({ length: 1000 }, (_, n) => `slug-${n}`)
    for (const slug of ['slug-7', 'slug-999']) await define(storage, slug)
    await grant(storage, '30', slugs)

    assert.deepEqual(await slugsHeldBy(storage, '30'), ['slug-7', 'slug-999'])
  }),
]
