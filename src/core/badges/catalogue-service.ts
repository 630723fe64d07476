import { needObject } from '../../schema/arguments.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { Badge, Decision } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import type { BadgeCatalogueState } from '../../storage/contract/stores.ts'
import { asksPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { change } from '../change.ts'
import type { Environment } from '../environment.ts'
import { toPageQuery } from '../page-query.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import { withSubjects } from '../with-subject.ts'
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

/** The methods of the badge catalogue service. Each runs one call. */
export class CatalogueServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  define(
    call: Call<A, Tx>,
    badge: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
  ): MaybePromise<Badge> {
    needObject(badge, 'badge', "{ slug: 'owl' }")
    const { slug, description = '', imageUrl = '' } = badge
    return this.#change(call, slug, (entry) => defineBadge(entry, { slug, description, imageUrl }))
  }

  update(
    call: Call<A, Tx>,
    given: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
  ): MaybePromise<Badge> {
    needObject(given, 'change', "{ slug: 'night-owl', description: 'Ships at night' }")
    const { slug, ...change } = given // a copy: the caller may change the object before the change is decided
    return this.#change(call, slug, (entry) => updateBadge(entry, slug, change))
  }

  remove(call: Call<A, Tx>, slug: string): MaybePromise<void> {
    return this.#change(call, slug, (entry) => removeBadge(entry, slug))
  }

  find(call: Call<A, Tx>, slug: string): MaybePromise<Badge | undefined> {
    const authorized = authorize(this.#environment, call, { action: 'badges.catalogue.read' })

    return after(authorized, () => {
      checkSlug(slug)
      return this.#environment.storage.badgeCatalogue.find(slug, call.transaction)
    })
  }

  list(call: Call<A, Tx>, page: PageRequest | undefined): MaybePromise<Page<Badge>> {
    const authorized = authorize(this.#environment, call, { action: 'badges.catalogue.read' })

    const { badgeCatalogue } = this.#environment.storage
    return after(authorized, () => badgeCatalogue.page(toPageQuery(page), call.transaction))
  }

  #change<Result>(
    call: Call<A, Tx>,
    slug: string,
    rule: (entry: BadgeCatalogueState) => Decision<BadgeCatalogueState, Result>,
  ): MaybePromise<Result> {
    const environment = this.#environment
    if (typeof slug !== 'string') throw new TypeError('slug must be a string')

    return change(environment, call, {
      store: environment.storage.badgeCatalogue,
      key: { slug },
      fenced: asksPolicy(call),
      ask() {
        return after(authorize(environment, call, { action: 'badges.catalogue.write' }), () => {
          checkSlug(slug)
          return (entry: BadgeCatalogueState) => {
            const decision = rule(entry)
            return { ...decision, events: withSubjects({}, decision.events) }
          }
        })
      },
    })
  }
}
