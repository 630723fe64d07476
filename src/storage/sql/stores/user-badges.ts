import type { Compilable, Expression } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { Page } from '../../../schema/paging.ts'
import type { Badge, BadgeHolder, Grant } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { PageQuery, UserBadgesKey, UserBadgesState, UserBadgesStore } from '../../contract/stores.ts'
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
import { noCursor } from './pages.ts'
import type { Removal, Removals, SqlStore } from './removals.ts'
import { keepAll } from './removals.ts'

/** Creates the user badges of an SQL storage. */
export function sqlUserBadges<Tx>(parts: StoreParts<Tx>): SqlStore<UserBadgesStore<Tx>> {
  const { context, runtime, heads } = parts
  const cases = new UserBadges(context, heads)

  const store: UserBadgesStore<Tx> = {
    ...aggregateStore(parts, cases),
    heldBy: (userId, transaction) => runtime.read((session) => cases.heldBy(session, userId), transaction),
    heldByMany: (userIds, transaction) => runtime.read((session) => cases.heldByMany(session, userIds), transaction),
    holders: (slug, query, transaction) => runtime.read((session) => cases.holders(session, slug, query), transaction),
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

  heldByMany(session: Session, userIds: readonly Id[]): MaybePromise<readonly (readonly Grant[])[]> {
    const asked = [...userIds]
    return after(session.all(this.#queries.heldByMany({ userIds: asked })), (rows) => {
      const held = new Map<Id, Grant[]>(asked.map((userId) => [userId, []]))
      for (const { userId, ...row } of rows) held.get(userId)?.push(toGrant(row))
      return asked.map((userId) => [...(held.get(userId) ?? [])])
    })
  }

  /** Reads a page of holders with the total in one statement, because the next statement may see another state. */
  holders(session: Session, slug: string, { from, limit }: PageQuery): MaybePromise<Page<BadgeHolder> | undefined> {
    const one = { slug, limit: limit + 1 } // one more, to see whether others follow
    const rows =
      'after' in from
        ? session.all(this.#queries.holdersAfter({ ...one, ...this.#placeOf(from.after) }))
        : session.all(this.#queries.holders({ ...one, offset: Math.min((from.page - 1) * limit, MAX_OFFSET) }))
    return after(rows, (found) => holderPage(found, limit))
  }

  /** Returns the place that a cursor names. @throws ForgeError `INVALID_INPUT` if it is not a cursor of the list */
  #placeOf(cursor: string): HolderPlace {
    const [, time, userId] = HOLDER_CURSOR.exec(cursor) ?? []
    if (userId === undefined || !this.#context.ids.fits('user', userId)) throw noCursor()
    return { grantedAt: Number(time), userId }
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

/** A cursor names the last holder of a page: the time of the grant, and the user. */
const HOLDER_CURSOR = /^g(-?\d{1,15}) (.{1,64})$/su

const MAX_OFFSET = Number.MAX_SAFE_INTEGER

function holderPage(found: readonly FoundHolder[], limit: number): Page<BadgeHolder> | undefined {
  const [first] = found
  if (first === undefined) return undefined

  const holders = found.filter(isHolder)
  const items = holders.slice(0, limit)
  const last = items.at(-1)
  const cursor = last !== undefined && holders.length > limit ? `g${last.grantedAt} ${last.userId}` : undefined
  return { items: items.map(toHolder), total: first.total, limit, cursor }
}

function isHolder(found: FoundHolder): found is StoredHolder {
  return found.userId !== null
}

function toHolder({ userId, grantedAt, grantedBy }: StoredHolder): BadgeHolder {
  return { userId, grantedAt: new Date(grantedAt), grantedBy }
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

/** The place of a holder in the list: grants of one time are in the order of their users' ids. */
interface HolderPlace {
  readonly grantedAt: number
  readonly userId: Id
}

/** The total of the holders beside one of them. */
interface StoredHolder extends HolderPlace {
  readonly total: number
  readonly grantedBy: Id | null
}

/** A holder, or the total alone if the page has none. */
type FoundHolder = StoredHolder | { readonly total: number; readonly userId: null }

/** Which badge, and how many holders of it. */
interface HolderRange extends Pick<Badge, 'slug'> {
  readonly limit: number
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
  readonly heldByMany: Query<{ readonly userIds: readonly Id[] }, StoredGrant & UserKey>
  readonly holders: Query<HolderRange & { readonly offset: number }, FoundHolder>
  readonly holdersAfter: Query<HolderRange & HolderPlace, FoundHolder>
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
    heldByMany: heldByManyQuery(context),
    holders: holdersQuery(context),
    holdersAfter: holdersAfterQuery(context),
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

function heldByManyQuery({ build, ids, columns }: SqlContext): UserBadgesQueries['heldByMany'] {
  return defineQuery((given) =>
    build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select([columns.id('user_id').as('userId')])
      .select([columns.id('badges.id').as('id'), 'slug', 'description', 'image_url as imageUrl'])
      .select([columns.number('granted_at').as('grantedAt'), columns.idOrNull('granted_by').as('grantedBy')])
      .where('user_id', 'in', ids.givenList('user', given('userIds')))
      .orderBy('user_id')
      .orderBy('seq'),
  )
}

function holdersQuery(context: SqlContext): UserBadgesQueries['holders'] {
  return defineQuery((given) =>
    besideTotal(context, given('slug'), grantsOf(context, given('slug')).limit(given('limit')).offset(given('offset'))),
  )
}

function holdersAfterQuery(context: SqlContext): UserBadgesQueries['holdersAfter'] {
  const { ids } = context
  return defineQuery((given) =>
    besideTotal(
      context,
      given('slug'),
      grantsOf(context, given('slug'))
        .where('granted_at', '>=', given('grantedAt'))
        .where((grant) =>
          grant.or([
            grant('granted_at', '>', given('grantedAt')),
            grant('user_id', '>', ids.given('user', given('userId'))),
          ]),
        )
        .limit(given('limit')),
    ),
  )
}

/** The grants of a badge in order. */
function grantsOf({ build }: SqlContext, slug: Expression<string>) {
  return build
    .selectFrom('user_grants')
    .select(['user_id', 'granted_at', 'granted_by'])
    .where('badge_id', '=', build.selectFrom('badges').select('id').where('slug', '=', slug))
    .orderBy('granted_at')
    .orderBy('user_id')
}

/** Grants beside the number of all grants of the badge. If there are none, one row has the number beside nulls. */
function besideTotal(
  { build, columns }: SqlContext,
  slug: Expression<string>,
  grants: ReturnType<typeof grantsOf>,
): Compilable<FoundHolder> {
  return build
    .selectFrom('badges')
    .leftJoin(grants.as('page'), (join) => join.onTrue())
    .select((badge) =>
      badge
        .selectFrom('user_grants')
        .select(columns.count().as('total'))
        .whereRef('badge_id', '=', 'badges.id')
        .as('total'),
    )
    .select([columns.id('page.user_id').as('userId'), columns.number('page.granted_at').as('grantedAt')])
    .select(columns.idOrNull('page.granted_by').as('grantedBy'))
    .where('slug', '=', slug)
    .orderBy('page.granted_at')
    .orderBy('page.user_id')
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
