import { needObject } from '../../schema/arguments.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { Badge, Decision } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { BadgeCatalogueState } from '../../storage/contract/stores.ts'
import type { Call, MaybeAsync, Scope } from '../call.ts'
import { change } from '../change.ts'
import { method } from '../method.ts'
import { copyPageRequest, toPageQuery } from '../page-query.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import { checkSlug, defineBadge, removeBadge, updateBadge } from './catalogue-rules.ts'

/**
 * The badge catalogue: the badges that can be granted.
 * Every method throws `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses. Every method with a slug throws
 * `INVALID_INPUT` if it is longer than 255 characters, contains NUL or is not well-formed Unicode.
 */
export interface BadgeCatalogueService<A extends Actor> {
  /**
   * Adds a badge to the catalogue.
   * @throws ForgeError `BADGE_EXISTS`, `INVALID_INPUT` also for an empty slug, and for a description of more than 4,000
   * characters, an image URL of more than 2,048, or either with NUL or ill-formed Unicode
   */
  define(
    actor: Caller<A>,
    badge: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Badge>
  /**
   * Changes the given properties of a badge and keeps the others.
   * @throws ForgeError `BADGE_NOT_FOUND`, `INVALID_INPUT` also for a description or an image URL that `define` refuses
   */
  update(
    actor: Caller<A>,
    change: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Badge>
  /** Removes a badge from the catalogue. @throws ForgeError `BADGE_NOT_FOUND`, `BADGE_IN_USE` while a user holds it */
  remove(actor: Caller<A>, slug: string, options?: CallOptions): Promise<void>
  /** Returns the badge with this slug, or undefined. Slugs are compared exactly. */
  find(actor: Caller<A>, slug: string, options?: CallOptions): Promise<Badge | undefined>
  /** Lists the badges, oldest definition first. @throws ForgeError `INVALID_INPUT` if the page request is invalid */
  list(actor: Caller<A>, page?: PageRequest, options?: CallOptions): Promise<Page<Badge>>
}

/** Creates the badge catalogue service of a scope. */
export function catalogueService(scope: Scope): MaybeAsync<BadgeCatalogueService<Actor>> {
  const { storage } = scope.environment

  return {
    define: method(scope, toDefined, (call, { badge }) =>
      changeEntry(call, badge.slug, (entry) => defineBadge(entry, badge)),
    ),
    update: method(scope, toChanged, (call, { slug, changed }) =>
      changeEntry(call, slug, (entry) => updateBadge(entry, slug, changed)),
    ),
    remove: method(scope, toRemoved, (call, { slug }) => changeEntry(call, slug, (entry) => removeBadge(entry, slug))),
    find: method(scope, toFound, (_call, { slug }) => {
      checkSlug(slug)
      return wait(storage.badgeCatalogue.find(slug, scope.transaction))
    }),
    list: method(scope, toListed, (_call, { page }) =>
      wait(storage.badgeCatalogue.page(toPageQuery(page), scope.transaction)),
    ),
  }

  function* changeEntry<Result>(
    call: Call,
    slug: string,
    rule: (entry: BadgeCatalogueState) => Decision<BadgeCatalogueState, Result>,
  ): SyncOrAsync<Result> {
    checkSlug(slug)
    return yield* change(scope, call, storage.badgeCatalogue, { slug }, {}, rule)
  }
}

type BadgeInput = Parameters<BadgeCatalogueService<Actor>['define']>[1]

function toDefined(given: BadgeInput) {
  needObject(given, 'badge', "{ slug: 'owl' }")
  const { slug, description = '', imageUrl = '' } = given
  return { ...toRemoved(slug), badge: { slug, description, imageUrl } }
}

function toChanged(given: BadgeInput) {
  needObject(given, 'change', "{ slug: 'night-owl', description: 'Ships at night' }")
  const { slug, ...changed } = given
  return { ...toRemoved(slug), changed }
}

function toRemoved(slug: string) {
  if (typeof slug !== 'string') throw new TypeError('slug must be a string')
  return { access: { action: 'badges.catalogue.write' }, slug } as const
}

function toFound(slug: string) {
  return { access: { action: 'badges.catalogue.read' }, slug } as const
}

function toListed(page: PageRequest | undefined) {
  return { access: { action: 'badges.catalogue.read' }, page: copyPageRequest(page) } as const
}
