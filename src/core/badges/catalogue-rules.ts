import { ForgeError, invalidInput } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Badge, Decision } from '../../schema/records.ts'
import { checkEach, checkText, textFault } from '../../schema/text.ts'

/** In characters (code points). */
const MAX_SLUG_LENGTH = 255

/** One entry of the catalogue. `badge` is undefined when the slug is not defined. */
export interface CatalogueEntry {
  readonly badge: Badge | undefined
  /** The number of users who hold the badge. */
  readonly holders: number
  /** The id for a new definition. */
  readonly nextId: Id
}

/** The definition of a badge. */
export interface BadgeDefinition {
  /** 1 to 255 characters, compared exactly. */
  readonly slug: string
  /** Up to 4,000 characters. */
  readonly description: string
  /** Up to 2,048 characters. May be empty. */
  readonly imageUrl: string
}

/** Defines a badge. @throws ForgeError `INVALID_INPUT`, then `BADGE_EXISTS` */
export function defineBadge<E extends CatalogueEntry>(entry: E, definition: BadgeDefinition): Decision<E, Badge> {
  checkDefinition(definition)
  const { slug } = definition
  if (entry.badge !== undefined) {
    throw new ForgeError('BADGE_EXISTS', `badge ${JSON.stringify(slug)} already exists`, { slug })
  }

  const badge: Badge = { id: entry.nextId, ...definition }
  return { state: { ...entry, badge }, events: [{ type: 'badge.defined', data: { slug } }], result: badge }
}

/**
 * Changes the given properties of a badge and keeps the others.
 * @throws ForgeError `BADGE_NOT_FOUND`, then `INVALID_INPUT`
 */
export function updateBadge<E extends CatalogueEntry>(
  entry: E,
  slug: string,
  change: { readonly description?: string | undefined; readonly imageUrl?: string | undefined },
): Decision<E, Badge> {
  const current = defined(entry, slug)
  const badge: Badge = {
    ...current,
    description: change.description ?? current.description,
    imageUrl: change.imageUrl ?? current.imageUrl,
  }
  checkDefinition(badge)
  if (badge.description === current.description && badge.imageUrl === current.imageUrl) {
    return { state: entry, events: [], result: current }
  }

  return { state: { ...entry, badge }, events: [{ type: 'badge.updated', data: { slug } }], result: badge }
}

/**
 * Removes a badge that no user holds.
 * @throws ForgeError `BADGE_NOT_FOUND`, then `BADGE_IN_USE`. Source: docs/behaviour.md, Host life
 */
export function removeBadge<E extends CatalogueEntry>(entry: E, slug: string): Decision<E, void> {
  defined(entry, slug)
  const { holders } = entry
  if (holders > 0) {
    const message = `badge ${JSON.stringify(slug)} is held by ${holders} ${holders === 1 ? 'user' : 'users'}`
    throw new ForgeError('BADGE_IN_USE', message, { slug, holders })
  }

  return {
    state: { ...entry, badge: undefined },
    events: [{ type: 'badge.removed', data: { slug } }],
    result: undefined,
  }
}

function defined(entry: CatalogueEntry, slug: string): Badge {
  if (entry.badge !== undefined) return entry.badge
  throw badgeNotFound(slug)
}

/** Creates the error for a slug that is not in the catalogue. */
export function badgeNotFound(slug: string): ForgeError<'BADGE_NOT_FOUND'> {
  return new ForgeError('BADGE_NOT_FOUND', `no such badge: ${JSON.stringify(slug)}`, { slug })
}

/**
 * Checks a slug before it is passed to a storage.
 * @throws ForgeError `INVALID_INPUT` if no storage can store the text
 */
export function checkSlug(slug: string): void {
  checkText('slug', slug, MAX_SLUG_LENGTH)
}

/** Checks a list of slugs. @throws ForgeError `INVALID_INPUT` naming the first 100 that no storage can store */
export function checkSlugs(slugs: readonly string[]): void {
  checkEach(slugs, (slug, index) => {
    const fault = textFault(slug, MAX_SLUG_LENGTH)
    return fault && { pointer: `/slugs/${index}`, ...fault }
  })
}

function checkDefinition({ slug, description, imageUrl }: BadgeDefinition): void {
  if (slug === '') throw invalidInput('/slug', 'required', 'slug must not be empty')
  checkSlug(slug)
  checkText('description', description, 4000)
  checkText('imageUrl', imageUrl, 2048)
}
