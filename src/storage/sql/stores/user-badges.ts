import type { SqlBool } from 'kysely'
import { sql } from 'kysely'
import { invalidCursor } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { Badge, BadgeHolder, Grant } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { PageQuery, UserBadgesKey, UserBadgesState, UserBadgesStore } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { Referred } from '../host/references.ts'
import { ALWAYS, insertReferring, livesIn } from '../host/references.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { SqlAggregate, StoreParts, Writing } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import { BADGE_FIELDS } from './badge-catalogue.ts'
import { pageOf } from './pages.ts'

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
interface ListedGrant extends UserKey {
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
  const { context, runtime, heads } = parts
  const { build, ids, dialect } = context
  const badges = fieldsOf(context, 'badges')
  const fields = fieldsOf(context, 'user_grants')
  const isAmong = <P extends UserBadgesKey>(given: QueryValues<P>) =>
    sql<SqlBool>`slug in ${dialect.elements(given('slugs').as(toJson), dialect.casts.text)}`

  const known = defineQuery((given: QueryValues<UserBadgesKey>) =>
    build
      .selectFrom('badges')
      .select(badges.read(...BADGE_FIELDS))
      .where(isAmong(given))
      .orderBy('badges.id'),
  )

  const selectGrants = () =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select(badges.read(...BADGE_FIELDS))
      .select(fields.read('grantedAt', 'grantedBy'))
      .where(livesIn(context, 'user', 'user_grants') ?? ALWAYS)
      .orderBy('seq')

  const heldBy = defineQuery((given: QueryValues<UserKey>) => selectGrants().where(fields.are(given, 'userId')))

  const heldByMany = defineQuery((given: QueryValues<{ userIds: readonly Id[] }>) =>
    selectGrants()
      .select(fields.read('userId'))
      .where('user_id', 'in', ids.givenList('user', given('userIds'))),
  )

  const held = defineQuery((given: QueryValues<UserBadgesKey>) =>
    selectGrants().where(fields.are(given, 'userId')).where(isAmong(given)),
  )

  const insert = defineQuery((given: QueryValues<ListedGrant>) =>
    insertReferring(
      context,
      'user_grants',
      fields.written(given, 'userId', 'badgeId', 'seq', 'grantedAt', 'grantedBy'),
    ),
  )

  const remove = defineQuery((given: QueryValues<UserKey & { badgeId: Id }>) =>
    build.deleteFrom('user_grants').where(fields.are(given, 'userId', 'badgeId')),
  )

  const removeOf = defineQuery(
    (given: QueryValues<UserKey>) =>
      build.deleteFrom('user_grants').where(fields.are(given, 'userId')).returning(fields.read('badgeId')),
    { mayTakeLong: true },
  )

  const holders = holdersReader(context)

  const grants: SqlAggregate<UserBadgesKey, UserBadgesState, [Badge, StoredGrant]> = {
    own: ({ userId, slugs }) => ({ userId, slugs: [...slugs] }),
    locks: ({ userId }) => [heads.of('user', userId)],
    refers: userIn,
    shows: ([, grants]) => grants.length > 0,
    loading: (key) => [known(key), held(key)],
    state: (_key, [badges, rows]) => ({ known: badges.map((badge) => ({ ...badge })), held: rows.map(toGrant) }),

    writing({ userId }, { before, after, head }): Writing {
      const gone = missingFrom(after.held, before.held).map(({ badge }) => remove({ userId, badgeId: badge.id }))
      const added = missingFrom(before.held, after.held).map(({ badge, grantedAt, grantedBy }, index) =>
        insert({ userId, badgeId: badge.id, seq: head.nextSeq + index, grantedAt, grantedBy }),
      )
      return {
        statements: [...gone, ...added],
        head: { ...head, nextSeq: head.nextSeq + added.length },
        refers: added.length === 0 ? undefined : () => userIn({ userId }),
      }
    },
  }

  return {
    store: {
      ...aggregateStore(parts, grants),
      heldBy: (userId, transaction) =>
        runtime.read(
          (session) =>
            after(heads.unlessRetired(session, heads.of('user', userId), heldBy({ userId })), (rows) =>
              rows.map(toGrant),
            ),
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

function userIn({ userId }: UserKey): readonly Referred[] {
  return [{ thing: 'user', id: userId }]
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

/** The total of the holders beside one of them; or beside nulls if the page has none. */
type FoundHolder = { readonly total: number } & (
  | Pick<Row<'user_grants'>, 'userId' | 'grantedAt' | 'grantedBy'>
  | { readonly userId: null }
)

/** Which badge, and which of its holders: those after a position, without the first `offset`. */
interface HolderRange {
  readonly slug: string
  readonly grantedAt: number
  /** Grants of one time are in the order of their users' ids. Null: before all of a time. */
  readonly userId: Id | null
  readonly offset: number
  readonly limit: number
}

/** A cursor names the last holder of a page: the time of the grant, and the user. */
const HOLDER_CURSOR = /^g(-?\d{1,15}) (.{1,64})$/su

/**
 * Creates the reader of those who hold a badge, oldest grant first. It returns undefined if the badge is not defined. One
 * statement reads the rows and counts all of them: the next might see another state.
 */
function holdersReader(
  context: SqlContext,
): (session: Session, slug: string, query: PageQuery) => MaybePromise<Page<BadgeHolder> | undefined> {
  const { build, ids, columns } = context
  const isHeld = livesIn(context, 'user', 'user_grants') ?? ALWAYS

  const find = defineQuery((given: QueryValues<HolderRange>) => {
    const [time, userId] = [given('grantedAt'), ids.given('user', given('userId'))]
    const page = build
      .selectFrom('user_grants')
      .select(['user_id', 'granted_at', 'granted_by'])
      .where('badge_id', '=', build.selectFrom('badges').select('id').where('slug', '=', given('slug')))
      .where(isHeld)
      .where(sql<SqlBool>`granted_at >= ${time} and (granted_at > ${time} or user_id > ${userId})`)
      .orderBy('granted_at')
      .orderBy('user_id')
      .limit(given('limit'))
      .offset(given('offset'))
    return build
      .selectFrom('badges')
      .leftJoin(page.as('page'), (join) => join.onTrue())
      .select((badge) =>
        badge
          .selectFrom('user_grants')
          .select(columns.count().as('total'))
          .whereRef('badge_id', '=', 'badges.id')
          .where(isHeld)
          .as('total'),
      )
      .select([columns.id('page.user_id').as('userId'), columns.number('page.granted_at').as('grantedAt')])
      .select(columns.id<Id | null>('page.granted_by').as('grantedBy'))
      .where('slug', '=', given('slug'))
      .orderBy('page.granted_at')
      .orderBy('page.user_id')
      .$castTo<FoundHolder>()
  })

  function rangeOf({ from, limit }: PageQuery): Omit<HolderRange, 'slug'> {
    const rows = limit + 1 // one more, to see whether others follow
    if ('page' in from) {
      const offset = Math.min((from.page - 1) * limit, Number.MAX_SAFE_INTEGER)
      return { grantedAt: -Number.MAX_SAFE_INTEGER, userId: null, offset, limit: rows }
    }
    const [, time, userId] = HOLDER_CURSOR.exec(from.after) ?? []
    if (userId === undefined || !ids.fits('user', userId)) throw invalidCursor()
    return { grantedAt: Number(time), userId, offset: 0, limit: rows }
  }

  return (session, slug, query) =>
    after(session.all(find({ slug, ...rangeOf(query) })), (found) => {
      const [first] = found
      if (first === undefined) return undefined

      const holders = found.flatMap((row) => (row.userId === null ? [] : [row]))
      const { items, limit, cursor } = pageOf(
        holders,
        query.limit,
        ({ userId, grantedAt, grantedBy }) => ({ userId, grantedAt: new Date(grantedAt), grantedBy }),
        (last) => `g${last.grantedAt} ${last.userId}`,
      )
      return { items, total: first.total, limit, cursor }
    })
}
