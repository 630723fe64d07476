import type { Id } from '../../../schema/ids.ts'
import type { Badge, Grant } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { UserBadgesKey, UserBadgesState, UserBadgesStore } from '../../contract/stores.ts'
import { toMilliseconds } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery, mayTakeLong } from '../query.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { defer, query } from '../session.ts'
import type { Difference, SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { Head, HeadKey, Heads, Lock } from './locks.ts'
import { refuseRetired } from './locks.ts'
import type { Removal, Removals, SqlStore } from './removals.ts'
import { keepAll } from './removals.ts'

/** Creates the user badges of an SQL storage. */
export function sqlUserBadges<Tx>(parts: StoreParts<Tx>): SqlStore<UserBadgesStore<Tx>> {
  const { context, runtime, heads } = parts
  const cases = new UserBadges(context, heads)

  const store: UserBadgesStore<Tx> = {
    ...aggregateStore(parts, cases),
    heldBy: (userId, transaction) => runtime.read((session) => cases.heldBy(session, userId), transaction),
  }
  return { store, removals: removalsOf(cases) }
}

/** A retired user takes the grants of badges with it. */
function removalsOf(cases: UserBadges): Removals {
  return {
    user: (session, { userId }) => cases.removeUser(session, userId),
    organization: keepAll,
    repository: keepAll,
    issue: keepAll,
  }
}

/** The badges of users as aggregates: one head per user. */
class UserBadges implements SqlAggregate<UserBadgesKey, UserBadgesState, [Badge, StoredGrant]> {
  readonly #context: SqlContext
  readonly #heads: Heads
  readonly #queries: UserBadgesQueries

  constructor(context: SqlContext, heads: Heads) {
    this.#context = context
    this.#heads = heads
    this.#queries = userBadgesQueries(context)
  }

  own({ userId, slugs }: UserBadgesKey): UserBadgesKey {
    return { userId, slugs: [...slugs] }
  }

  head({ userId }: { readonly userId: Id }): HeadKey {
    return { scope: 'user', key: this.#context.ids.fitting('user', userId) }
  }

  locks(key: UserBadgesKey): readonly Lock[] {
    return [{ head: this.head(key), thing: 'user' }]
  }

  loading(key: UserBadgesKey): Statements<[Badge, StoredGrant]> {
    return [this.#queries.known(key), this.#queries.held(key)]
  }

  state(_key: UserBadgesKey, [known, held]: RowsOfEach<[Badge, StoredGrant]>): UserBadgesState {
    return { known: known.map((badge) => ({ ...badge })), held: held.map(toGrant) }
  }

  /**
   * Returns all grants for a reader. A retired user holds none, so only a user without grants is checked for
   * retirement.
   */
  heldBy(session: Session, userId: Id): MaybePromise<readonly Grant[]> {
    return after(session.all(this.#queries.heldBy({ userId })), (rows) =>
      rows.length > 0 ? rows.map(toGrant) : after(this.#heads.find(session, this.head({ userId })), noGrants),
    )
  }

  *write(
    session: Session,
    { userId }: UserBadgesKey,
    { before, after, head }: Difference<UserBadgesState>,
  ): SyncOrAsync<Head> {
    for (const { badge } of missingFrom(after.held, before.held)) {
      yield* defer(session, this.#queries.remove({ userId, badgeId: badge.id }))
    }
    let seq = head.nextSeq
    for (const { badge, grantedAt, grantedBy } of missingFrom(before.held, after.held)) {
      yield* defer(session, this.#queries.insert({ userId, badgeId: badge.id, seq, grantedAt, grantedBy }))
      seq += 1
    }
    return { ...head, nextSeq: seq }
  }

  /** Removes all grants of a user. */
  *removeUser(session: Session, userId: Id): SyncOrAsync<Removal> {
    const removed = yield* query(session, this.#queries.removeOf({ userId }))
    return { removed: { grants: removed.length } }
  }
}

function noGrants(head: Head): readonly Grant[] {
  refuseRetired(head, 'user')
  return []
}

/** Returns the grants that are not among the others. */
function missingFrom(others: readonly Grant[], grants: readonly Grant[]): readonly Grant[] {
  const present = new Set(others.map(({ badge }) => badge.id))
  return grants.filter(({ badge }) => !present.has(badge.id))
}

function toGrant({ grantedAt, grantedBy, ...badge }: StoredGrant): Grant {
  return { badge, grantedAt: new Date(grantedAt), grantedBy }
}

/** A grant as the statements return it, with the definition of its badge. */
export interface StoredGrant extends Badge {
  readonly grantedAt: number
  readonly grantedBy: Id | null
}

/** Identifies one user. */
interface UserKey {
  readonly userId: Id
}

/** A grant as the statements write it. */
export interface PlacedGrant extends UserKey {
  readonly badgeId: Id
  readonly seq: number
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** The statements of the user badges. */
export interface UserBadgesQueries {
  readonly known: Query<UserBadgesKey, Badge>
  readonly held: Query<UserBadgesKey, StoredGrant>
  readonly heldBy: Query<UserKey, StoredGrant>
  readonly insert: Query<PlacedGrant, unknown>
  readonly remove: Query<UserKey & { readonly badgeId: Id }, unknown>
  readonly removeOf: Query<UserKey, { readonly badgeId: Id }>
}

/** Defines the statements of the user badges. */
function userBadgesQueries(context: SqlContext): UserBadgesQueries {
  return {
    known: knownQuery(context),
    held: heldQuery(context),
    heldBy: heldByQuery(context),
    insert: insertQuery(context),
    remove: removeQuery(context),
    removeOf: mayTakeLong(removeOfQuery(context)),
  }
}

function knownQuery({ build, dialect, columns }: SqlContext): UserBadgesQueries['known'] {
  return defineQuery((given) =>
    build
      .selectFrom('badges')
      .select([columns.id('id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .where('slug', 'in', dialect.elements(given('slugs').as(toJson), dialect.casts.text))
      .orderBy('badges.id'),
  )
}

function heldQuery({ build, ids, dialect, columns }: SqlContext): UserBadgesQueries['held'] {
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

function heldByQuery({ build, ids, columns }: SqlContext): UserBadgesQueries['heldBy'] {
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

function insertQuery({ build, ids }: SqlContext): UserBadgesQueries['insert'] {
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

function removeQuery({ build, ids }: SqlContext): UserBadgesQueries['remove'] {
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

function removeOfQuery({ build, ids, columns }: SqlContext): UserBadgesQueries['removeOf'] {
  return defineQuery((given) =>
    build
      .deleteFrom('user_grants')
      .where('user_id', '=', ids.given('user', given('userId')))
      .returning(columns.id('badge_id').as('badgeId')),
  )
}
