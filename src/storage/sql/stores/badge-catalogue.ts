import type { Id } from '../../../schema/ids.ts'
import type { Badge } from '../../../schema/records.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { BadgeCatalogueKey, BadgeCatalogueState, BadgeCatalogueStore } from '../../contract/stores.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery, mayTakeLong } from '../query.ts'
import type { SqlAggregate, StoreParts, Writing } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { HeadKey } from './locks.ts'
import type { Slice } from './pages.ts'
import { pageReader } from './pages.ts'

/** How many users hold a badge. */
interface Holders {
  readonly holders: number
}

/** The one head of the catalogue. It counts the definitions and assigns their ids. */
const HEAD: HeadKey = { scope: 'catalogue', key: '' }

/** Creates the badge catalogue of an SQL storage: one aggregate. */
export function sqlBadgeCatalogue<Tx>(parts: StoreParts<Tx>): BadgeCatalogueStore<Tx> {
  const { context, runtime, heads } = parts
  const { build, ids, columns } = context

  const find = defineQuery((given: QueryValues<BadgeCatalogueKey>) =>
    build
      .selectFrom('badges')
      .select([columns.id('id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('slug', '=', given('slug')),
  )

  const countHolders = defineQuery((given: QueryValues<BadgeCatalogueKey>) =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select(columns.count().as('holders'))
      .where('slug', '=', given('slug')),
  )

  const insert = defineQuery((given: QueryValues<Badge>) =>
    build.insertInto('badges').values({
      id: ids.givenInteger(given('id')),
      slug: given('slug'),
      description: given('description'),
      image_url: given('imageUrl'),
    }),
  )

  const update = defineQuery((given: QueryValues<Badge>) =>
    build
      .updateTable('badges')
      .set({ description: given('description'), image_url: given('imageUrl') })
      .where('id', '=', ids.givenInteger(given('id'))),
  )

  const remove = mayTakeLong(
    defineQuery((given: QueryValues<{ id: Id }>) =>
      build.deleteFrom('badges').where('id', '=', ids.givenInteger(given('id'))),
    ),
  )

  const page = pageReader(context, heads, {
    columns: ['place', 'id', 'slug', 'description', 'imageUrl'],
    rows: (given: QueryValues<HeadKey & Slice>) =>
      build
        .selectFrom('badges')
        .select([columns.number('badges.id').as('place'), columns.id('badges.id').as('id')])
        .select(['slug', 'description', 'image_url as imageUrl'])
        .where('badges.id', '>', ids.givenInteger(given('after').as(String)))
        .orderBy('badges.id')
        .limit(given('limit'))
        .offset(given('offset')),
    toItem: ({ id, slug, description, imageUrl }) => ({ id, slug, description, imageUrl }),
  })

  const entries: SqlAggregate<BadgeCatalogueKey, BadgeCatalogueState, [Badge, Holders]> = {
    own: ({ slug }) => ({ slug }),
    locks: () => [HEAD],
    loading: (key) => [find(key), countHolders(key)],
    state: (_key, [[row], [count]], head) => ({
      badge: row && { ...row },
      holders: count?.holders ?? 0,
      nextId: String(head.nextSeq),
    }),

    writing(_key, { before, after, head }): Writing {
      if (after.badge === undefined) {
        if (before.badge === undefined) return { statements: [], head }
        return { statements: [remove(before.badge)], head: { ...head, total: head.total - 1 } }
      }
      if (before.badge !== undefined) {
        return { statements: [update({ ...after.badge, id: before.badge.id })], head }
      }
      return {
        statements: [insert(after.badge)],
        head: { ...head, total: head.total + 1, nextSeq: head.nextSeq + 1 },
      }
    },
  }

  return {
    ...aggregateStore(parts, entries),
    find: (slug, transaction) =>
      runtime.read((session) => after(session.first(find({ slug })), (row) => row && { ...row }), transaction),
    page: (query, transaction) => runtime.read((session) => page(session, HEAD, query), transaction),
  }
}
