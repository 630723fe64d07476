import assert from 'node:assert/strict'
import type { BadgeDefinition, Decision, Id } from '../../../index.ts'
import * as rules from '../../../index.ts'
import type {
  BadgeCatalogueKey,
  BadgeCatalogueState,
  ForgeStorage,
  UserBadgesKey,
  UserBadgesState,
} from '../../../storage/storage.ts'
import type { AggregateSample, Draw, Extras, Names } from './sample.ts'
import { AUTHOR, about, altered, change, kind, NOON, sampleOf, TEXTS } from './sample.ts'

/** Defines a badge and returns its id. */
export async function define<Tx>(
  storage: ForgeStorage<Tx>,
  slug: string,
  { description = '', imageUrl = '', ...extras }: Extras<Tx> & Partial<BadgeDefinition> = {},
): Promise<Id> {
  const rule = (entry: BadgeCatalogueState) => rules.defineBadge(entry, { slug, description, imageUrl })
  return (await changeEntry(storage, slug, rule, extras)).id
}

/** Removes a definition that no user holds from the catalogue. */
export async function removeBadge<Tx>(storage: ForgeStorage<Tx>, slug: string, extras: Extras<Tx> = {}): Promise<void> {
  await changeEntry(storage, slug, (entry) => rules.removeBadge(entry, slug), extras)
}

/** Grants those of the badges that are defined. Badges that the user already holds are skipped. */
export async function grant<Tx>(
  storage: ForgeStorage<Tx>,
  userId: Id,
  slugs: readonly string[],
  extras: Extras<Tx> = {},
): Promise<void> {
  await changeHeld(storage, { userId, slugs }, rules.grantBadges, extras)
}

/** Revokes badges that the user holds. */
export async function revoke<Tx>(
  storage: ForgeStorage<Tx>,
  userId: Id,
  slugs: readonly string[],
  extras: Extras<Tx> = {},
): Promise<void> {
  await changeHeld(storage, { userId, slugs }, rules.revokeBadges, extras)
}

/** Returns the slugs of the badges that a user holds, in order. */
export async function slugsHeldBy<Tx>(storage: ForgeStorage<Tx>, userId: Id): Promise<readonly string[]> {
  return (await storage.userBadges.heldBy(userId)).map((one) => one.badge.slug)
}

/** Returns all slugs of the catalogue in order, after a check against the total. */
export async function catalogueOf<Tx>(storage: ForgeStorage<Tx>): Promise<readonly string[]> {
  const { items, total } = await storage.badgeCatalogue.page({ from: { page: 1 }, limit: 1000 })
  assert.equal(total, items.length, 'the total counts the definitions')
  return items.map((badge) => badge.slug)
}

/** The badges of users. */
export const userBadges: AggregateSample = sampleOf<UserBadgesKey, UserBadgesState>({
  name: 'a user’s badges',
  store: (storage) => storage.userBadges,
  key: { userId: '30', slugs: ['night-owl'] },
  prepare: (storage) => define(storage, 'night-owl'),
  alter({ known, held }) {
    const given = held.length > 0 ? [] : known.map((badge) => ({ badge, grantedAt: new Date(NOON), grantedBy: null }))
    const type = held.length > 0 ? 'badge.revoked' : 'badge.granted'
    return altered({ known, held: given }, { type, data: { slug: 'night-owl' } }, { userId: '30' })
  },
  keys: ({ users, slugs }) => users.map((userId) => ({ userId, slugs: slugs.slice(1) })),
  reads: (storage, { users }, transaction) => [
    ...users.map((userId) => [`badges of ${userId}`, () => storage.userBadges.heldBy(userId, transaction)] as const),
    ['badges of all', () => storage.userBadges.heldByMany(users, transaction)],
  ],
  lists: (storage, { slugs }, transaction) =>
    slugs.map((slug) => [`holders of ${slug}`, (query) => storage.userBadges.holders(slug, query, transaction)]),
  kinds: {
    grant: kind(10, drawnGrants, (to, { userId, slugs }, extras) => grant(to, userId, slugs, extras)),
    revoke: kind(4, drawnGrants, (to, { userId, slugs }, extras) => revoke(to, userId, slugs, extras)),
  },
})

/** The catalogue. */
export const badgeCatalogue: AggregateSample = sampleOf<BadgeCatalogueKey, BadgeCatalogueState>({
  name: 'the badge catalogue',
  store: (storage) => storage.badgeCatalogue,
  key: { slug: 'early-bird' },
  alter(entry) {
    const type = entry.badge === undefined ? 'badge.defined' : 'badge.removed'
    const defined = { id: entry.nextId, slug: 'early-bird', description: 'Up first', imageUrl: '' }
    const badge = entry.badge === undefined ? defined : undefined
    return altered({ ...entry, badge }, { type, data: { slug: 'early-bird' } })
  },
  keys: ({ slugs }) => slugs.map((slug) => ({ slug })),
  reads: (storage, { slugs }, transaction) =>
    slugs.map((slug) => [`definition of ${slug}`, () => storage.badgeCatalogue.find(slug, transaction)]),
  lists: (storage, _names, transaction) => [['catalogue', (query) => storage.badgeCatalogue.page(query, transaction)]],
  kinds: {
    define: kind(7, drawnBadge, (to, { slug, ...texts }, extras) => define(to, slug, { ...extras, ...texts })),
    update: kind(3, drawnBadge, (to, { slug, ...texts }, extras) =>
      changeEntry(to, slug, (entry) => rules.updateBadge(entry, slug, texts), extras),
    ),
    remove: kind(3, (draw, { slugs }) => draw.one(slugs), removeBadge),
  },
})

function drawnGrants(draw: Draw, { users, slugs }: Names): UserBadgesKey {
  return { userId: draw.one(users), slugs: draw.some(slugs) }
}

function drawnBadge(draw: Draw, { slugs }: Names): BadgeDefinition {
  return { slug: draw.one(slugs), description: draw.one(TEXTS), imageUrl: draw.one(TEXTS) }
}

/** Changes an entry of the catalogue by a rule. */
async function changeEntry<Tx, Result>(
  storage: ForgeStorage<Tx>,
  slug: string,
  rule: (entry: BadgeCatalogueState) => Decision<BadgeCatalogueState, Result>,
  extras: Extras<Tx>,
): Promise<Result> {
  return (await change(storage.badgeCatalogue, { slug }, (entry) => about({}, rule(entry)), extras)).result
}

/** Changes the badges of a user by a rule, for the slugs that are defined. */
async function changeHeld<Tx>(
  storage: ForgeStorage<Tx>,
  { userId, slugs }: UserBadgesKey,
  rule: typeof rules.grantBadges,
  extras: Extras<Tx>,
): Promise<void> {
  const { actorId: grantedBy } = extras.by ?? AUTHOR
  await change(
    storage.userBadges,
    { userId, slugs },
    (before, at) => {
      const known = before.known.map(({ slug }) => slug)
      const holds = { known, held: before.held.map(({ badge }) => badge.slug) }
      const { state, ...decided } = rule(
        holds,
        slugs.filter((slug) => known.includes(slug)),
      )
      const held = state.held.flatMap((slug) => {
        const kept = before.held.filter(({ badge }) => badge.slug === slug)
        const added = before.known.filter((badge) => badge.slug === slug)
        return kept.length > 0 ? kept : added.map((badge) => ({ badge, grantedAt: at, grantedBy }))
      })
      return about({ userId }, { state: state === holds ? before : { known: before.known, held }, ...decided })
    },
    extras,
  )
}
