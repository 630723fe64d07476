import { needObject } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { BadgeHolder, Decision, Grant } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { UserBadgesState } from '../../storage/contract/stores.ts'
import type { Call, MaybeAsync, Scope } from '../call.ts'
import { actorIdOf } from '../call.ts'
import { change } from '../change.ts'
import { method } from '../method.ts'
import { copyPageRequest, toPageQuery } from '../page-query.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import type { UserBadges } from './badge-rules.ts'
import { grantBadges, revokeBadges } from './badge-rules.ts'
import { badgeNotFound, checkSlug, checkSlugs } from './catalogue-rules.ts'
import type { BadgeCatalogueService } from './catalogue-service.ts'
import { catalogueService } from './catalogue-service.ts'

/**
 * Badges: grants them to users and revokes them. Source: docs/behaviour.md, Badges.
 * Every method throws `USER_NOT_FOUND` for a concealed or retired user and `UNAUTHENTICATED` or `FORBIDDEN` when the
 * policy refuses.
 */
export interface BadgeService<A extends Actor> {
  /**
   * Grants badges, all or none. Badges that the user already holds and repeated slugs are skipped.
   * @throws ForgeError `INVALID_INPUT` for a slug that no database can store, `UNKNOWN_BADGE` naming every unknown slug
   */
  grant(
    actor: Caller<A>,
    grants: { readonly userId: IdInput; readonly slugs: readonly string[] },
    options?: CallOptions,
  ): Promise<void>
  /**
   * Revokes badges, all or none. Badges that the user does not hold are skipped.
   * @throws ForgeError `INVALID_INPUT` for a slug that no database can store, `UNKNOWN_BADGE` naming every unknown slug
   */
  revoke(
    actor: Caller<A>,
    grants: { readonly userId: IdInput; readonly slugs: readonly string[] },
    options?: CallOptions,
  ): Promise<void>
  /** Returns the badges that the user holds, oldest grant first. */
  heldBy(actor: Caller<A>, userId: IdInput, options?: CallOptions): Promise<readonly Grant[]>
  /**
   * Returns what each of the users holds, oldest grant first, by the ids as they were given: a number stays a number. A
   * user who holds nothing has an empty list, and so has a retired one. It reads once, for a page that shows many users,
   * and asks the policy once whether the caller may read the badges of any user.
   */
  heldByMany<I extends IdInput>(
    actor: Caller<A>,
    userIds: readonly I[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<I, readonly Grant[]>>
  /**
   * Lists the users who hold a badge, oldest grant first. It asks the policy whether the caller may read the badges of
   * any user.
   * @throws ForgeError `BADGE_NOT_FOUND`; `INVALID_INPUT` for a slug that no database can store, or if the page request is
   * invalid
   */
  holders(
    actor: Caller<A>,
    request: PageRequest & { readonly slug: string },
    options?: CallOptions,
  ): Promise<Page<BadgeHolder>>
  readonly catalogue: BadgeCatalogueService<A>
}

/** Creates the badge service of a scope. */
export function badgeService(scope: Scope): MaybeAsync<BadgeService<Actor>> {
  const { storage } = scope.environment

  return {
    grant: method(scope, toGrants, (call, grants) => changeBadges(call, grants, grantBadges)),
    revoke: method(scope, toGrants, (call, grants) => changeBadges(call, grants, revokeBadges)),
    heldBy: method(scope, toUser, (_call, { userId }) => wait(storage.userBadges.heldBy(userId, scope.transaction))),
    heldByMany: method(scope, toUsers, function* heldByMany(_call, { users, userIds }) {
      const held = yield* wait(storage.userBadges.heldByMany(userIds, scope.transaction))
      return new Map(users.map((user, index) => [user, held[index] ?? []]))
    }),
    holders: method(scope, toHeld, function* holders(_call, { slug, page }) {
      checkSlug(slug)
      const found = yield* wait(storage.userBadges.holders(slug, toPageQuery(page), scope.transaction))
      if (found === undefined) throw badgeNotFound(slug)
      return found
    }),
    catalogue: catalogueService(scope),
  }

  function* changeBadges(
    call: Call,
    { userId, slugs }: ReturnType<typeof toGrants>,
    rule: (badges: UserBadges, slugs: readonly string[]) => Decision<UserBadges, void>,
  ): SyncOrAsync<void> {
    const grantedBy = actorIdOf(call.actor)
    checkSlugs(slugs)
    yield* change(scope, call, storage.userBadges, { userId, slugs }, { userId }, (before, grantedAt) => {
      const badges = { known: before.known.map(({ slug }) => slug), held: before.held.map(({ badge }) => badge.slug) }
      const { state, ...decided } = rule(badges, slugs)
      const held = arrange(before, state.held, grantedAt, grantedBy)
      return { state: state === badges ? before : { known: before.known, held }, ...decided }
    })
  }
}

function toGrants(grants: { readonly userId: IdInput; readonly slugs: readonly string[] }) {
  needObject(grants, 'grants', "{ userId: 9, slugs: ['night-owl'] }")
  const userId = toId(grants.userId, 'grants.userId')
  if (!Array.isArray(grants.slugs) || grants.slugs.some((slug) => typeof slug !== 'string')) {
    throw new TypeError('grants.slugs must be an array of strings')
  }
  return { access: { action: 'badges.grant', userId }, userId, slugs: [...grants.slugs] } as const
}

function toUser(user: IdInput) {
  const userId = toId(user, 'userId')
  return { access: { action: 'badges.read', userId }, userId } as const
}

function toUsers<I extends IdInput>(users: readonly I[]) {
  if (!Array.isArray(users)) throw new TypeError('userIds must be an array of ids')
  const userIds = users.map((user) => toId(user, 'userId'))
  return { access: { action: 'badges.read' }, users: [...users], userIds } as const
}

function toHeld(request: PageRequest & { readonly slug: string }) {
  needObject(request, 'request', "{ slug: 'night-owl', page: 1, limit: 30 }")
  const { slug } = request
  if (typeof slug !== 'string') throw new TypeError('request.slug must be a string')
  return { access: { action: 'badges.read' }, slug, page: copyPageRequest(request) } as const
}

function arrange(
  state: UserBadgesState,
  held: readonly string[],
  grantedAt: Date,
  grantedBy: Grant['grantedBy'],
): readonly Grant[] {
  const grants = new Map(state.known.map((badge) => [badge.slug, { badge, grantedAt, grantedBy }]))
  for (const grant of state.held) grants.set(grant.badge.slug, grant)
  return held.flatMap((slug) => grants.get(slug) ?? [])
}
