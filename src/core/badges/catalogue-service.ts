import { needObject } from '../../schema/arguments.ts'
import type { Decision } from '../../schema/decision.ts'
import type { Page, PageRequest } from '../../schema/paging.ts'
import type { Badge } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { BadgeCatalogueState } from '../../storage/contract/stores.ts'
import { asksPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { change } from '../change.ts'
import type { Environment } from '../environment.ts'
import { toPageQuery } from '../page-query.ts'
import type { Actor } from '../ports.ts'
import { withSubjects } from '../subject.ts'
import { checkSlug, defineBadge, removeBadge, updateBadge } from './catalogue-rules.ts'

/** The methods of the badge catalogue service, as generators that run one call each. */
export class CatalogueServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  *define(
    call: Call<A, Tx>,
    badge: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
  ): SyncOrAsync<Badge> {
    needObject(badge, 'badge', "{ slug: 'owl' }")
    const { slug, description = '', imageUrl = '' } = badge
    return yield* this.#change(call, slug, (entry) => defineBadge(entry, { slug, description, imageUrl }))
  }

  *update(
    call: Call<A, Tx>,
    given: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
  ): SyncOrAsync<Badge> {
    needObject(given, 'change', "{ slug: 'night-owl', description: 'Ships at night' }")
    const { slug, ...change } = given // a copy: the caller may change the object before the change is decided
    return yield* this.#change(call, slug, (entry) => updateBadge(entry, slug, change))
  }

  *remove(call: Call<A, Tx>, slug: string): SyncOrAsync<void> {
    return yield* this.#change(call, slug, (entry) => removeBadge(entry, slug))
  }

  *find(call: Call<A, Tx>, slug: string): SyncOrAsync<Badge | undefined> {
    yield* authorize(this.#environment, call, { action: 'badges.catalogue.read' })
    checkSlug(slug)
    return yield* wait(this.#environment.storage.badgeCatalogue.find(slug, call.transaction))
  }

  *list(call: Call<A, Tx>, page: PageRequest | undefined): SyncOrAsync<Page<Badge>> {
    yield* authorize(this.#environment, call, { action: 'badges.catalogue.read' })
    return yield* wait(this.#environment.storage.badgeCatalogue.page(toPageQuery(page), call.transaction))
  }

  *#change<Result>(
    call: Call<A, Tx>,
    slug: string,
    rule: (entry: BadgeCatalogueState) => Decision<BadgeCatalogueState, Result>,
  ): SyncOrAsync<Result> {
    const environment = this.#environment
    if (typeof slug !== 'string') throw new TypeError('slug must be a text')

    return yield* change(environment, call, {
      store: environment.storage.badgeCatalogue,
      key: { slug },
      fenced: asksPolicy(call),
      *ask() {
        yield* authorize(environment, call, { action: 'badges.catalogue.write' })
        checkSlug(slug)
        return (entry: BadgeCatalogueState) => {
          const decision = rule(entry)
          return { ...decision, events: withSubjects({}, decision.events) }
        }
      },
    })
  }
}
