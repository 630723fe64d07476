import type { Id } from '../../schema/ids.ts'
import type { Badge } from '../../schema/records.ts'
import type { BadgeCaseKey } from '../contract/badge-case-store.ts'
import type { Query } from './query.ts'
import { defineQuery } from './query.ts'
import type { SqlContext } from './sql-context.ts'
import { toMilliseconds } from './times.ts'

/** A grant as it is read, with the definition of its badge. */
export interface StoredGrant extends Badge {
  readonly grantedAt: number
  readonly grantedBy: Id | null
}

/** Names one user. */
export interface UserKey {
  readonly userId: Id
}

/** A grant as it is written. */
export interface PlacedGrant extends UserKey {
  readonly badgeId: Id
  readonly seq: number
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** The statements of the badge cases. */
export interface BadgeCaseQueries {
  readonly known: Query<BadgeCaseKey, Badge>
  readonly held: Query<BadgeCaseKey, StoredGrant>
  readonly heldBy: Query<UserKey, StoredGrant>
  readonly insert: Query<PlacedGrant, unknown>
  readonly remove: Query<UserKey & { readonly badgeId: Id }, unknown>
}

/** Defines the statements of the badge cases. */
export function badgeCaseQueries(context: SqlContext): BadgeCaseQueries {
  return {
    known: knownQuery(context),
    held: heldQuery(context),
    heldBy: heldByQuery(context),
    insert: insertQuery(context),
    remove: removeQuery(context),
  }
}

function knownQuery({ build, dialect, columns }: SqlContext): BadgeCaseQueries['known'] {
  return defineQuery((given) =>
    build
      .selectFrom('badges')
      .select([columns.id('id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('slug', 'in', dialect.elements(given('slugs').as(toJson), dialect.casts.text))
      .orderBy('badges.id'),
  )
}

function heldQuery({ build, ids, dialect, columns }: SqlContext): BadgeCaseQueries['held'] {
  return defineQuery((given) =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select([columns.id('badges.id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .select([columns.number('granted_at').as('grantedAt'), columns.idOrNull('granted_by').as('grantedBy')])
      .where('user_id', '=', ids.given('user', given('userId')))
      .where('slug', 'in', dialect.elements(given('slugs').as(toJson), dialect.casts.text))
      .orderBy('seq'),
  )
}

function heldByQuery({ build, ids, columns }: SqlContext): BadgeCaseQueries['heldBy'] {
  return defineQuery((given) =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select([columns.id('badges.id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .select([columns.number('granted_at').as('grantedAt'), columns.idOrNull('granted_by').as('grantedBy')])
      .where('user_id', '=', ids.given('user', given('userId')))
      .orderBy('seq'),
  )
}

function insertQuery({ build, ids }: SqlContext): BadgeCaseQueries['insert'] {
  return defineQuery((given) =>
    build.insertInto('user_grants').values({
      user_id: ids.given('user', given('userId')),
      badge_id: ids.givenInteger(given('badgeId')),
      seq: given('seq'),
      granted_at: given('grantedAt').as(toMilliseconds),
      granted_by: ids.given('user', given('grantedBy')),
    }),
  )
}

function removeQuery({ build, ids }: SqlContext): BadgeCaseQueries['remove'] {
  return defineQuery((given) =>
    build
      .deleteFrom('user_grants')
      .where('user_id', '=', ids.given('user', given('userId')))
      .where('badge_id', '=', ids.givenInteger(given('badgeId'))),
  )
}

function toJson(slugs: readonly string[]): string {
  return JSON.stringify(slugs)
}
