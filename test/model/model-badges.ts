import type { Badge } from '../../src/index.ts'
import { Refusal } from './answer.ts'
import type { Turn } from './forge-model.ts'
import { checkPage, pageOf } from './model-blocks.ts'
import type { Inputs } from './step.ts'

type Slugs = Inputs['grant']
type Definition = Inputs['define']

export function grant(turn: Turn, { userId, slugs }: Slugs): unknown {
  for (const badge of namedBadges(turn, userId, slugs)) {
    const grants = turn.state.grantsOf(userId)
    if (grants.some((one) => one.badgeId === badge.id)) continue

    grants.push({ badgeId: badge.id, grantedAt: turn.now, grantedBy: turn.actorId })
    turn.report('badge.granted', { slug: badge.slug }, { userId })
  }
  return undefined
}

export function revoke(turn: Turn, { userId, slugs }: Slugs): unknown {
  for (const badge of namedBadges(turn, userId, slugs)) {
    const grants = turn.state.grantsOf(userId)
    const found = grants.findIndex((one) => one.badgeId === badge.id)
    if (found < 0) continue

    grants.splice(found, 1)
    turn.report('badge.revoked', { slug: badge.slug }, { userId })
  }
  return undefined
}

export function heldBy(turn: Turn, userId: string): unknown {
  turn.check('USER_NOT_FOUND')
  if (turn.state.gone.has(`user ${userId}`)) throw new Refusal('USER_NOT_FOUND')

  return turn.state.grantsOf(userId).map(({ badgeId, grantedAt, grantedBy }) => ({
    badge: turn.state.catalogue.find((badge) => badge.id === badgeId),
    grantedAt,
    grantedBy,
  }))
}

export function define(turn: Turn, { slug, description = '' }: Definition): unknown {
  turn.check('FORBIDDEN')
  if (slug === '' || slug.length > 255) throw new Refusal('INVALID_INPUT', ['/slug'])
  if (description.length > 4000) throw new Refusal('INVALID_INPUT', ['/description'])
  if (turn.state.badge(slug) !== undefined) throw new Refusal('BADGE_EXISTS', { slug })

  turn.state.badgesEver += 1
  const badge: Badge = { id: String(turn.state.badgesEver), slug, description, imageUrl: '' }
  turn.state.catalogue.push(badge)
  turn.report('badge.defined', { slug })
  return badge
}

export function update(turn: Turn, { slug, description }: Definition): unknown {
  turn.check('FORBIDDEN')
  if (slug.length > 255) throw new Refusal('INVALID_INPUT', ['/slug'])
  const before = defined(turn, slug)
  const after = { ...before, description: description ?? before.description }
  if (after.description.length > 4000) throw new Refusal('INVALID_INPUT', ['/description'])
  if (after.description === before.description) return before

  turn.state.catalogue.splice(turn.state.catalogue.indexOf(before), 1, after)
  turn.report('badge.updated', { slug })
  return after
}

export function remove(turn: Turn, slug: string): unknown {
  turn.check('FORBIDDEN')
  const badge = defined(turn, slug)
  const holders = [...turn.state.grants.values()].filter((grants) => grants.some((one) => one.badgeId === badge.id))
  if (holders.length > 0) throw new Refusal('BADGE_IN_USE', { slug, holders: holders.length })

  turn.state.catalogue.splice(turn.state.catalogue.indexOf(badge), 1)
  turn.report('badge.removed', { slug })
  return undefined
}

export function find(turn: Turn, slug: string): unknown {
  turn.check('FORBIDDEN')
  return turn.state.badge(slug)
}

export function list(turn: Turn, { page, limit }: Inputs['listBadges']): unknown {
  turn.check('FORBIDDEN')
  checkPage(page, limit)
  return pageOf(turn.state.catalogue, page, limit)
}

function defined(turn: Turn, slug: string): Badge {
  const badge = turn.state.badge(slug)
  if (badge === undefined) throw new Refusal('BADGE_NOT_FOUND', { slug })
  return badge
}

function namedBadges(turn: Turn, userId: string, slugs: readonly string[]): readonly Badge[] {
  turn.check('USER_NOT_FOUND')
  if (turn.state.gone.has(`user ${userId}`)) throw new Refusal('USER_NOT_FOUND')
  const unknown = [...new Set(slugs)].filter((slug) => turn.state.badge(slug) === undefined)
  if (unknown.length > 0) throw new Refusal('UNKNOWN_BADGE', { slugs: unknown })

  return slugs.map((slug) => defined(turn, slug))
}
