import assert from 'node:assert/strict'
import type { Badge } from '../../../index.ts'
import type { BadgeCatalogueKey, BadgeCatalogueState, ForgeStorage } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregate-sample.ts'
import { aggregateSample } from './aggregate-sample.ts'
import { catalogueOf, slugsHeldBy } from './contents.ts'
import { change, define, grant, NO_SUBJECT, removeBadge, retire, revoke } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

const LOOKALIKES = [
  'night-owl',
  'Night-Owl',
  'night-owl ',
  ' night-owl',
  'NIGHT-OWL',
  '🦉',
  '🦆',
  'é',
  'e\u0301',
  'ß',
  'ss',
  "o'wl",
  '%',
  '_',
]

/** The sample of the badge catalogue. */
export const badgeCatalogueSample: AggregateSample = aggregateSample<BadgeCatalogueKey, BadgeCatalogueState>({
  name: 'the badge catalogue',
  store: (storage) => storage.badgeCatalogue,
  key: { slug: 'early-bird' },
  contents: (storage) => storage.badgeCatalogue.page({ from: { page: 1 }, limit: 1000 }),
  alter: (entry) => ({
    state: {
      ...entry,
      badge:
        entry.badge === undefined
          ? { id: entry.nextId, slug: 'early-bird', description: 'Up first', imageUrl: '' }
          : undefined,
    },
    events: [
      {
        ...NO_SUBJECT,
        type: entry.badge === undefined ? 'badge.defined' : 'badge.removed',
        data: { slug: 'early-bird' },
      },
    ],
    result: 'altered',
  }),
})

/** Cases about the badge catalogue, which lists the badges that can be granted. */
export const badgeCatalogueCases: readonly StorageCase[] = [
  storageCase('an empty catalogue has an empty page and no definition', async (storage) => {
    assert.deepEqual(await storage.badgeCatalogue.page({ from: { page: 1 }, limit: 30 }), {
      items: [],
      total: 0,
      limit: 30,
      cursor: undefined,
    })
    assert.equal(await storage.badgeCatalogue.find('night-owl'), undefined)
  }),

  storageCase('a definition is stored, changed and removed', async (storage) => {
    const id = await define(storage, 'night-owl', { description: 'Ships after midnight' })
    const badge: Badge = { id, slug: 'night-owl', description: 'Ships after midnight', imageUrl: '' }
    assert.deepEqual(await storage.badgeCatalogue.find('night-owl'), badge)
    const better: Badge = { ...badge, description: '', imageUrl: 'https://example.com/owl.png' }
    await put(storage, 'night-owl', better)
    assert.deepEqual(await storage.badgeCatalogue.find('night-owl'), better)
    await removeBadge(storage, 'night-owl')

    assert.equal(await storage.badgeCatalogue.find('night-owl'), undefined)
    assert.deepEqual(await catalogueOf(storage), [])
  }),

  storageCase('slugs are compared exactly', async (storage) => {
    for (const slug of LOOKALIKES) await define(storage, slug, { description: slug })
    for (const slug of LOOKALIKES) {
      await refuses('BADGE_EXISTS', () => define(storage, slug))
      assert.equal((await storage.badgeCatalogue.find(slug))?.description, slug)
    }
    assert.deepEqual(await catalogueOf(storage), LOOKALIKES)
    await grant(storage, '30', ['Night-Owl', '🦆', 'e\u0301'])
    await revoke(storage, '30', ['night-owl', '🦉', 'é'])
    assert.deepEqual(await slugsHeldBy(storage, '30'), ['Night-Owl', '🦆', 'e\u0301'])
    await removeBadge(storage, 'night-owl ')

    assert.deepEqual(
      await catalogueOf(storage),
      LOOKALIKES.filter((slug) => slug !== 'night-owl '),
    )
  }),

  storageCase('definitions are listed oldest first, in pages by number and by cursor', async (storage) => {
    const slugs = ['m', 'z', 'a', 'q', 'b']
    for (const slug of slugs) await define(storage, slug)
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => storage.badgeCatalogue.page({ from: { page }, limit: 2 })),
    )
    assert.deepEqual(
      pages.map((page) => page.items.map((badge) => badge.slug)),
      [['m', 'z'], ['a', 'q'], ['b'], []],
    )
    assert.deepEqual(
      pages.map((page) => [page.total, page.limit, page.cursor !== undefined]),
      [
        [5, 2, true],
        [5, 2, true],
        [5, 2, false],
        [5, 2, false],
      ],
    )
    const rest = await storage.badgeCatalogue.page({ from: { after: String(pages[0]?.cursor) }, limit: 1000 })

    assert.deepEqual(
      rest.items.map((badge) => badge.slug),
      ['a', 'q', 'b'],
    )
    assert.deepEqual([rest.total, rest.cursor], [5, undefined])
  }),

  storageCase('an invalid cursor of the catalogue is invalid input', async (storage) => {
    await define(storage, 'a')
    for (const after of ['', 'x', '-1', '1.5', 'null', '🦉']) {
      await refuses('INVALID_INPUT', () => storage.badgeCatalogue.page({ from: { after }, limit: 2 }))
    }
  }),

  storageCase('badge ids are decimal integers and are never reused', async (storage) => {
    const given: string[] = []
    for (const slug of ['a', 'b', 'c']) given.push(await define(storage, slug))
    await removeBadge(storage, 'c')
    await removeBadge(storage, 'a')
    for (const slug of ['d', 'c', 'a']) given.push(await define(storage, slug))
    for (const slug of ['a', 'b', 'c', 'd']) await removeBadge(storage, slug)
    given.push(await define(storage, 'e'))

    assert.equal(new Set(given).size, 7)
    for (const id of given) assert.match(id, /^[1-9][0-9]*$/)
  }),

  storageCase('a definition that was refused or rolled back does not block the next', async (storage) => {
    await refuses('BADGE_EXISTS', async () => {
      await define(storage, 'a')
      await define(storage, 'a')
    })
    const id = await define(storage, 'b')

    assert.deepEqual(await storage.badgeCatalogue.find('b'), { id, slug: 'b', description: '', imageUrl: '' })
  }),

  storageCase('definitions created concurrently all have different ids', async (storage) => {
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => define(storage, `slug-${n}`)))

    assert.equal(new Set(ids).size, 40)
    assert.equal((await catalogueOf(storage)).length, 40)
  }),

  storageCase('one slug defined concurrently many times is defined once', async (storage) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => define(storage, 'a')))

    assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
    assert.deepEqual(await catalogueOf(storage), ['a'])
  }),

  storageCase('a decision sees how many users hold the badge', async (storage) => {
    for (const slug of ['a', 'b']) await define(storage, slug)
    assert.equal(await holders(storage, 'a'), 0)
    for (const userId of ['30', '31', '32']) await grant(storage, userId, ['a', 'b'])
    assert.deepEqual([await holders(storage, 'a'), await holders(storage, 'b')], [3, 3])
    await revoke(storage, '30', ['a'])
    assert.deepEqual([await holders(storage, 'a'), await holders(storage, 'b')], [2, 3])
    await retire(storage, { thing: 'user', userId: '31' })

    assert.deepEqual([await holders(storage, 'a'), await holders(storage, 'b')], [1, 2])
    assert.equal(await holders(storage, 'dodo'), 0)
  }),
]

async function holders<Tx>(storage: ForgeStorage<Tx>, slug: string): Promise<number> {
  const outcome = await change(storage.badgeCatalogue, { slug }, (entry) => ({
    state: entry,
    events: [],
    result: entry.holders,
  }))
  return outcome.result
}

async function put<Tx>(storage: ForgeStorage<Tx>, slug: string, badge: Badge): Promise<void> {
  const decide = <State extends { readonly badge: Badge | undefined }>(entry: State) => ({
    state: { ...entry, badge },
    events: [],
    result: undefined,
  })
  await change(storage.badgeCatalogue, { slug }, decide)
}
