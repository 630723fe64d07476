import { needObject } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Badge, Decision, Grant } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import type { UserBadgesState } from '../../storage/contract/stores.ts'
import { asksPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { actorIdOf } from '../call.ts'
import type { Decide } from '../change.ts'
import { change } from '../change.ts'
import type { Environment } from '../environment.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import { withSubjects } from '../with-subject.ts'
import type { UserBadges } from './badge-rules.ts'
import { grantBadges, revokeBadges } from './badge-rules.ts'
import { checkSlugs } from './catalogue-rules.ts'
import type { BadgeCatalogueService } from './catalogue-service.ts'

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
  readonly catalogue: BadgeCatalogueService<A>
}

/** The badges to grant or to revoke. */
interface BadgeRequest {
  readonly userId: IdInput
  readonly slugs: readonly string[]
}

/** The methods of the badge service. Each runs one call. */
export class BadgeServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  grant(call: Call<A, Tx>, request: BadgeRequest): MaybePromise<void> {
    return this.#change(call, request, grantBadges)
  }

  revoke(call: Call<A, Tx>, request: BadgeRequest): MaybePromise<void> {
    return this.#change(call, request, revokeBadges)
  }

  heldBy(call: Call<A, Tx>, user: IdInput): MaybePromise<readonly Grant[]> {
    const userId = toId(user, 'userId')
    const authorized = authorize(this.#environment, call, { action: 'badges.read', userId })

    return after(authorized, () => this.#environment.storage.userBadges.heldBy(userId, call.transaction))
  }

  #change(
    call: Call<A, Tx>,
    request: BadgeRequest,
    rule: (badges: UserBadges, slugs: readonly string[]) => Decision<UserBadges, void>,
  ): MaybePromise<void> {
    needObject(request, 'grants', "{ userId: 9, slugs: ['night-owl'] }")
    const environment = this.#environment
    const userId = toId(request.userId, 'grants.userId')
    const grantedBy = actorIdOf(call.actor)
    if (!Array.isArray(request.slugs) || request.slugs.some((slug) => typeof slug !== 'string')) {
      throw new TypeError('grants.slugs must be an array of strings')
    }
    const slugs = [...request.slugs] // a copy: the caller may change the list before the change is decided

    const decide: Decide<UserBadgesState, void> = (state, grantedAt) => {
      const badges = toUserBadges(state)
      const decision = rule(badges, slugs)
      const held = decision.state.held
      return {
        ...decision,
        state: decision.state === badges ? state : { ...state, held: arrange(state, held, grantedAt, grantedBy) },
        events: withSubjects({ userId }, decision.events),
      }
    }

    return change(environment, call, {
      store: environment.storage.userBadges,
      key: { userId, slugs },
      fenced: asksPolicy(call),
      ask() {
        return after(authorize(environment, call, { action: 'badges.grant', userId }), () => {
          checkSlugs(slugs)
          return decide
        })
      },
    })
  }
}

function toUserBadges(state: UserBadgesState): UserBadges {
  return { known: state.known.map(({ slug }) => slug), held: state.held.map(({ badge }) => badge.slug) }
}

function arrange(
  state: UserBadgesState,
  held: readonly string[],
  grantedAt: Date,
  grantedBy: Grant['grantedBy'],
): readonly Grant[] {
  const kept = state.held.filter(({ badge }) => held.includes(badge.slug))
  const isNew = ({ slug }: Badge): boolean =>
    held.includes(slug) && !state.held.some(({ badge }) => badge.slug === slug)
  const added = held.flatMap((slug) => state.known.filter((badge) => badge.slug === slug && isNew(badge)))
  return [...kept, ...added.map((badge) => ({ badge, grantedAt, grantedBy }))]
}
