import type { Id } from '../../../schema/ids.ts'
import type { Badge } from '../../../schema/records.ts'
import type { BadgeCatalogueKey, BadgeCatalogueState, BadgeCatalogueStore } from '../../contract/stores.ts'
import { after } from '../after.ts'
import { fieldsOf } from '../fields.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore, listWriting } from './aggregate.ts'
import type { HeadKey } from './heads.ts'
import type { Slice } from './pages.ts'
import { pageReader } from './pages.ts'

/** How many users hold a badge. */
interface Holders {
  readonly holders: number
}

/** The fields of a badge. */
export const BADGE_FIELDS = ['id', 'slug', 'description', 'imageUrl'] as const

/** The one head of the catalogue. It counts the definitions and assigns their ids. */
const HEAD: HeadKey = { scope: 'catalogue', key: '' }

/** Creates the badge catalogue of an SQL storage: one aggregate. */
export function sqlBadgeCatalogue<Tx>(parts: StoreParts<Tx>): BadgeCatalogueStore<Tx> {
  const { context, runtime } = parts
  const { build, ids, columns } = context
  const badges = fieldsOf(context, 'badges')

  const find = defineQuery((given: QueryValues<BadgeCatalogueKey>) =>
    build
      .selectFrom('badges')
      .select(badges.read(...BADGE_FIELDS))
      .where(badges.are(given, 'slug')),
  )

  const countHolders = defineQuery((given: QueryValues<BadgeCatalogueKey>) =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select(columns.count().as('holders'))
      .where(badges.are(given, 'slug')),
  )

  const insert = defineQuery((given: QueryValues<Badge>) =>
    build.insertInto('badges').values(badges.written(given, ...BADGE_FIELDS)),
  )

  const update = defineQuery((given: QueryValues<Badge>) =>
    build
      .updateTable('badges')
      .set(badges.written(given, 'description', 'imageUrl'))
      .where(badges.are(given, 'id')),
  )

  const remove = defineQuery(
    (given: QueryValues<{ id: Id }>) => build.deleteFrom('badges').where(badges.are(given, 'id')),
    { mayTakeLong: true },
  )

  const page = pageReader(context, {
    fields: BADGE_FIELDS,
    rows: (given: QueryValues<HeadKey & Slice>) =>
      build
        .selectFrom('badges')
        .select([columns.number('badges.id').as('sortKey'), ...badges.read(...BADGE_FIELDS)])
        .where('badges.id', '>', ids.givenInteger(given('after').as(String)))
        .orderBy('badges.id')
        .limit(given('limit'))
        .offset(given('offset')),
    toItem: ({ id, slug, description, imageUrl }) => ({ id, slug, description, imageUrl }),
  })

  const entries: SqlAggregate<BadgeCatalogueKey, BadgeCatalogueState, [Badge, Holders]> = {
    own: ({ slug }) => ({ slug }),
    locks: () => [HEAD],
    refers: () => [],
    shows: () => true,
    loading: (key) => [find(key), countHolders(key)],
    state: (_key, [[row], [count]], head) => ({
      badge: row && { ...row },
      holders: count?.holders ?? 0,
      nextId: String(head.nextSeq),
    }),

    writing: (_key, { before, after, head }) =>
      listWriting<Badge>(head, before.badge, after.badge, {
        insert,
        update: (changed, { id }) => update({ ...changed, id }),
        remove,
      }),
  }

  return {
    ...aggregateStore(parts, entries),
    find: (slug, transaction) =>
      runtime.read((session) => after(session.first(find({ slug })), (row) => row && { ...row }), transaction),
    page: (query, transaction) => runtime.read((session) => page(session, HEAD, query), transaction),
  }
}
