import type { Id } from '../../../schema/ids.ts'
import type { Badge, Grant } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { UserBadgesKey, UserBadgesState, UserBadgesStore } from '../../contract/stores.ts'
import { toMilliseconds } from '../columns.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery, mayTakeLong } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { SqlAggregate, StoreParts, Writing } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import { holdersReader } from './badge-holders.ts'
import { refuseRetired } from './locks.ts'

/** A grant as the statements return it, with the definition of its badge. */
interface StoredGrant extends Badge {
  readonly grantedAt: number
  readonly grantedBy: Id | null
}

/** Identifies one user. */
interface UserKey {
  readonly userId: Id
}

/** A grant as the statements write it. */
interface PlacedGrant extends UserKey {
  readonly badgeId: Id
  readonly seq: number
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** Creates the badges of users of an SQL storage: one head per user. */
export function sqlUserBadges<Tx>(parts: StoreParts<Tx>): {
  readonly store: UserBadgesStore<Tx>
  /** Removes the grants of a locked user, and returns how many. */
  readonly ofUser: (session: Session, userId: Id) => SyncOrAsync<number>
} {
  const { runtime, heads } = parts
  const { build, ids, dialect, columns } = parts.context

  const known = defineQuery((given: QueryValues<UserBadgesKey>) =>
    build
      .selectFrom('badges')
      .select([columns.id('id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('slug', 'in', dialect.elements(given('slugs').as(toJson), dialect.casts.text))
      .orderBy('badges.id'),
  )

  const selectGrants = () =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select([columns.id('badges.id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .select([columns.number('granted_at').as('grantedAt'), columns.idOrNull('granted_by').as('grantedBy')])
      .orderBy('seq')

  const heldBy = defineQuery((given: QueryValues<UserKey>) =>
    selectGrants().where('user_id', '=', ids.given('user', given('userId'))),
  )

  const heldByMany = defineQuery((given: QueryValues<{ userIds: readonly Id[] }>) =>
    selectGrants()
      .select(columns.id('user_id').as('userId'))
      .where('user_id', 'in', ids.givenList('user', given('userIds'))),
  )

  const held = defineQuery((given: QueryValues<UserBadgesKey>) =>
    selectGrants()
      .where('user_id', '=', ids.given('user', given('userId')))
      .where('slug', 'in', dialect.elements(given('slugs').as(toJson), dialect.casts.text)),
  )

  const insert = defineQuery((given: QueryValues<PlacedGrant>) =>
    build.insertInto('user_grants').values({
      user_id: ids.given('user', given('userId')),
      badge_id: ids.givenInteger(given('badgeId')),
      seq: given('seq'),
      granted_at: given('grantedAt').as(toMilliseconds),
      granted_by: ids.given('user', given('grantedBy')),
    }),
  )

  const remove = defineQuery((given: QueryValues<UserKey & { badgeId: Id }>) =>
    build
      .deleteFrom('user_grants')
      .where('user_id', '=', ids.given('user', given('userId')))
      .where('badge_id', '=', ids.givenInteger(given('badgeId'))),
  )

  const removeOf = mayTakeLong(
    defineQuery((given: QueryValues<UserKey>) =>
      build
        .deleteFrom('user_grants')
        .where('user_id', '=', ids.given('user', given('userId')))
        .returning(columns.id('badge_id').as('badgeId')),
    ),
  )

  const holders = holdersReader(parts.context)

  const grants: SqlAggregate<UserBadgesKey, UserBadgesState, [Badge, StoredGrant]> = {
    own: ({ userId, slugs }) => ({ userId, slugs: [...slugs] }),
    locks: ({ userId }) => [heads.of('user', userId)],
    loading: (key) => [known(key), held(key)],
    state: (_key, [badges, rows]) => ({ known: badges.map((badge) => ({ ...badge })), held: rows.map(toGrant) }),

    writing({ userId }, { before, after, head }): Writing {
      const gone = missingFrom(after.held, before.held).map(({ badge }) => remove({ userId, badgeId: badge.id }))
      const added = missingFrom(before.held, after.held).map(({ badge, grantedAt, grantedBy }, index) =>
        insert({ userId, badgeId: badge.id, seq: head.nextSeq + index, grantedAt, grantedBy }),
      )
      return { statements: [...gone, ...added], head: { ...head, nextSeq: head.nextSeq + added.length } }
    },
  }

  return {
    store: {
      ...aggregateStore(parts, grants),
      // A retired user holds none, so only a user without grants is checked for retirement.
      heldBy: (userId, transaction) =>
        runtime.read(
          (session) =>
            after(session.all(heldBy({ userId })), (rows) => {
              if (rows.length > 0) return rows.map(toGrant)
              return after(heads.find(session, heads.of('user', userId)), (head) => {
                refuseRetired(head)
                return []
              })
            }),
          transaction,
        ),

      heldByMany: (userIds, transaction) =>
        runtime.read((session) => {
          const asked = [...userIds]
          return after(session.all(heldByMany({ userIds: asked })), (rows) => {
            const found = new Map<Id, Grant[]>(asked.map((userId) => [userId, []]))
            for (const { userId, ...row } of rows) found.get(userId)?.push(toGrant(row))
            return asked.map((userId) => [...(found.get(userId) ?? [])])
          })
        }, transaction),

      holders: (slug, query, transaction) => runtime.read((session) => holders(session, slug, query), transaction),
    },

    *ofUser(session, userId) {
      const removed = yield* query(session, removeOf({ userId }))
      return removed.length
    },
  }
}

/** Returns the grants that are not among the others. */
function missingFrom(others: readonly Grant[], grants: readonly Grant[]): readonly Grant[] {
  const present = new Set(others.map(({ badge }) => badge.id))
  return grants.filter(({ badge }) => !present.has(badge.id))
}

function toGrant({ grantedAt, grantedBy, ...badge }: StoredGrant): Grant {
  return { badge, grantedAt: new Date(grantedAt), grantedBy }
}

function toJson(slugs: readonly string[]): string {
  return JSON.stringify(slugs)
}
