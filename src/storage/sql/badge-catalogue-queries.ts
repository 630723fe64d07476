import type { Id } from '../../schema/ids.ts'
import type { Badge } from '../../schema/records.ts'
import type { BadgeCatalogueKey } from '../contract/badge-catalogue-store.ts'
import type { HeadKey, RowBesideHead } from './heads.ts'
import { columnsBesideRows } from './heads.ts'
import type { Slice, Tail } from './pages.ts'
import type { Query } from './query.ts'
import { defineQuery, mayTakeLong } from './query.ts'
import type { SqlContext } from './sql-context.ts'

/** Names one definition. */
export interface BadgeId {
  readonly id: Id
}

/** The statements of the badge catalogue. */
export interface BadgeCatalogueQueries {
  readonly find: Query<BadgeCatalogueKey, Badge>
  readonly holders: Query<BadgeId, { readonly holders: number }>
  readonly insert: Query<Badge, unknown>
  readonly update: Query<Badge, unknown>
  readonly remove: Query<BadgeId, unknown>
  readonly slice: Query<HeadKey & Slice, RowBesideHead<Badge>>
  readonly tail: Query<HeadKey & Tail, RowBesideHead<Badge>>
}

/** Defines the statements of the badge catalogue. */
export function badgeCatalogueQueries(context: SqlContext): BadgeCatalogueQueries {
  return {
    find: findQuery(context),
    holders: holdersQuery(context),
    insert: insertQuery(context),
    update: updateQuery(context),
    remove: mayTakeLong(removeQuery(context)),
    slice: sliceQuery(context),
    tail: tailQuery(context),
  }
}

function findQuery({ build, columns }: SqlContext): BadgeCatalogueQueries['find'] {
  return defineQuery((given) =>
    build
      .selectFrom('badges')
      .select([columns.id('id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('slug', '=', given('slug')),
  )
}

function holdersQuery({ build, ids, columns }: SqlContext): BadgeCatalogueQueries['holders'] {
  return defineQuery((given) =>
    build
      .selectFrom('user_grants')
      .select(columns.count().as('holders'))
      .where('badge_id', '=', ids.givenInteger(given('id'))),
  )
}

function insertQuery({ build, ids }: SqlContext): BadgeCatalogueQueries['insert'] {
  return defineQuery((given) =>
    build.insertInto('badges').values({
      id: ids.givenInteger(given('id')),
      slug: given('slug'),
      description: given('description'),
      image_url: given('imageUrl'),
    }),
  )
}

function updateQuery({ build, ids }: SqlContext): BadgeCatalogueQueries['update'] {
  return defineQuery((given) =>
    build
      .updateTable('badges')
      .set({ description: given('description'), image_url: given('imageUrl') })
      .where('id', '=', ids.givenInteger(given('id'))),
  )
}

function removeQuery({ build, ids }: SqlContext): BadgeCatalogueQueries['remove'] {
  return defineQuery((given) => build.deleteFrom('badges').where('id', '=', ids.givenInteger(given('id'))))
}

// As with blocks, the places are found first, and the head is in the same statement.

function sliceQuery({ build, ids, columns }: SqlContext): BadgeCatalogueQueries['slice'] {
  return defineQuery((given) => {
    const places = build
      .selectFrom('badges')
      .select('badges.id as place')
      .where('badges.id', '>', ids.givenInteger(given('after').as(String)))
      .orderBy('badges.id')
      .limit(given('limit'))
      .offset(given('offset'))

    return build
      .selectFrom('heads')
      .leftJoin(places.as('page'), (join) => join.onTrue())
      .leftJoin('badges', 'badges.id', 'page.place')
      .select(columnsBesideRows(columns))
      .select([columns.id('badges.id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key'))
      .orderBy('page.place')
  })
}

function tailQuery({ build, columns }: SqlContext): BadgeCatalogueQueries['tail'] {
  return defineQuery((given) => {
    const places = build
      .selectFrom('badges')
      .select('badges.id as place')
      .orderBy('badges.id', 'desc')
      .limit(given('limit'))
      .offset(given('offset'))

    return build
      .selectFrom('heads')
      .leftJoin(places.as('page'), (join) => join.onTrue())
      .leftJoin('badges', 'badges.id', 'page.place')
      .select(columnsBesideRows(columns))
      .select([columns.id('badges.id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key'))
      .orderBy('page.place', 'desc')
  })
}
