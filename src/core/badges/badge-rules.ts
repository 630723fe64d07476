import { ForgeError } from '../../schema/errors.ts'
import type { Decision } from '../../schema/records.ts'

/**
 * Limits of the error message: how many slugs it names, and how many characters of each. The details contain all slugs.
 */
const MAX_NAMED = 100
const MAX_NAMED_LENGTH = 255

/** The state of a badge rule, which concerns the slugs in question. */
export interface UserBadges {
  /** The slugs that are defined in the catalogue. */
  readonly known: readonly string[]
  /** The slugs of the badges that the user holds. */
  readonly held: readonly string[]
}

/**
 * Grants badges, all or none. Badges that the user already holds and repeated slugs are skipped.
 *
 * @throws ForgeError `UNKNOWN_BADGE` naming every unknown slug. Source: docs/behaviour.md, Badges
 */
export function grantBadges(badges: UserBadges, slugs: readonly string[]): Decision<UserBadges, void> {
  refuseUnknown(badges, slugs)
  const added = distinct(slugs).filter((slug) => !badges.held.includes(slug))
  if (added.length === 0) return { state: badges, events: [], result: undefined }

  return {
    state: { known: badges.known, held: [...badges.held, ...added] },
    events: added.map((slug) => ({ type: 'badge.granted', data: { slug } })),
    result: undefined,
  }
}

/**
 * Revokes badges, all or none. Badges that the user does not hold are skipped.
 *
 * @throws ForgeError `UNKNOWN_BADGE` naming every unknown slug. Source: docs/behaviour.md, Badges
 */
export function revokeBadges(badges: UserBadges, slugs: readonly string[]): Decision<UserBadges, void> {
  refuseUnknown(badges, slugs)
  const removed = distinct(slugs).filter((slug) => badges.held.includes(slug))
  if (removed.length === 0) return { state: badges, events: [], result: undefined }

  return {
    state: { known: badges.known, held: badges.held.filter((slug) => !removed.includes(slug)) },
    events: removed.map((slug) => ({ type: 'badge.revoked', data: { slug } })),
    result: undefined,
  }
}

function refuseUnknown(badges: UserBadges, slugs: readonly string[]): void {
  const unknown = distinct(slugs).filter((slug) => !badges.known.includes(slug))
  if (unknown.length === 0) return

  const named = unknown.slice(0, MAX_NAMED).map((slug) => JSON.stringify(slug.slice(0, MAX_NAMED_LENGTH)))
  const more = unknown.length > MAX_NAMED ? `, and ${unknown.length - MAX_NAMED} more` : ''
  throw new ForgeError('UNKNOWN_BADGE', `no such badge: ${named.join(', ')}${more}`, { slugs: unknown })
}

function distinct(slugs: readonly string[]): readonly string[] {
  return [...new Set(slugs)]
}
