import type { Badge } from '../../schema/records.ts'
import type { BadgeCatalogueState, BadgeCatalogueStore } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { updateAggregate } from './aggregate.ts'
import type { MemoryTables } from './memory-tables.ts'
import { cutPage } from './pages.ts'
import type { MemoryStore } from './retirement.ts'
import { keepAll } from './retirement.ts'

/** Creates the badge catalogue of a memory storage. */
export function memoryBadgeCatalogue(tables: MemoryTables): MemoryStore<BadgeCatalogueStore<undefined>> {
  const store: BadgeCatalogueStore<undefined> = {
    update: ({ slug }, change) => updateAggregate(tables, entry(tables, slug), change),
    find: (slug) => entry(tables, slug).load().badge,
    page(query) {
      const page = cutPage(inOrder(tables), (badge) => Number(badge.id), query)
      return { ...page, items: page.items.map((badge) => ({ ...badge })) }
    },
  }
  return { store, removals: { user: keepAll, organization: keepAll, repository: keepAll, issue: keepAll } }
}

function entry(tables: MemoryTables, slug: string): Aggregate<BadgeCatalogueState> {
  return {
    alive: [],
    load() {
      const badge = tables.badges.get(slug)
      return {
        badge: badge === undefined ? undefined : { ...badge },
        holders: badge === undefined ? 0 : holders(tables, badge),
        nextId: tables.nextBadgeId,
      }
    },
    write(_before, { badge }) {
      if (badge === undefined) tables.badges.delete(slug)
      else tables.defineBadge({ ...badge })
    },
  }
}

function holders(tables: MemoryTables, badge: Badge): number {
  return [...tables.grants.values()].filter((rows) => rows.some((row) => row.badgeId === badge.id)).length
}

/** Definitions are added in order of id, and a changed one keeps its place. */
function inOrder(tables: MemoryTables): readonly Badge[] {
  return [...tables.badges.values()]
}
