import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Badge, BadgeHolder, Grant } from '../../schema/records.ts'
import type { PageQuery, UserBadgesKey, UserBadgesState, UserBadgesStore } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { refuseRetired, updateAggregate } from './aggregate.ts'
import type { GrantRow, MemoryTables } from './memory-tables.ts'
import { noCursor } from './pages.ts'
import type { MemoryStore, Removals } from './retirement.ts'
import { keepAll } from './retirement.ts'

/** Creates the user badges of a memory storage. */
export function memoryUserBadges(tables: MemoryTables): MemoryStore<UserBadgesStore<undefined>> {
  const store: UserBadgesStore<undefined> = {
    update: (key, change) => updateAggregate(tables, userBadges(tables, key), change),
    heldBy(userId) {
      refuseRetired(tables, [[`user ${userId}`, 'user']])
      return heldBy(tables, userId)
    },
    heldByMany: (userIds) => userIds.map((userId) => heldBy(tables, userId)),
    holders(slug, query) {
      const badge = tables.badges.get(slug)
      return badge && holdersOf(tables, badge.id, query)
    },
  }
  return { store, removals: removalsOf(tables) }
}

/** A retired user takes the grants of badges with it. */
function removalsOf(tables: MemoryTables): Removals {
  return {
    user: ({ userId }) => ({
      removed: { grants: tables.grants.get(userId)?.length ?? 0 },
      write: () => void tables.grants.delete(userId),
    }),
    organization: keepAll,
    repository: keepAll,
    issue: keepAll,
  }
}

function heldBy(tables: MemoryTables, userId: Id): readonly Grant[] {
  return (tables.grants.get(userId) ?? []).map((row) => toGrant(tables, row))
}

/** A cursor names the last holder of a page: the time of the grant, and the user. */
const HOLDER_CURSOR = /^g(-?\d{1,15}) (.+)$/u

function holdersOf({ grants }: MemoryTables, badgeId: Id, { from, limit }: PageQuery): Page<BadgeHolder> {
  const all = [...grants]
    .flatMap(([userId, rows]) => rows.filter((row) => row.badgeId === badgeId).map((row) => toHolder(userId, row)))
    .sort(inOrder)
  const start = 'after' in from ? indexAfterHolder(all, from.after) : (from.page - 1) * limit
  const items = all.slice(start, start + limit)
  const last = items.at(-1)
  const cursor = last && start + limit < all.length ? `g${last.grantedAt.getTime()} ${last.userId}` : undefined
  return { items, total: all.length, limit, cursor }
}

function indexAfterHolder(all: readonly BadgeHolder[], cursor: string): number {
  const [, time, userId] = HOLDER_CURSOR.exec(cursor) ?? []
  if (time === undefined || userId === undefined) throw noCursor()
  const last = { userId, grantedAt: new Date(Number(time)) }
  const index = all.findIndex((holder) => inOrder(last, holder) < 0)
  return index < 0 ? all.length : index
}

type Place = Pick<BadgeHolder, 'userId' | 'grantedAt'>

function inOrder(one: Place, other: Place): number {
  const between = one.grantedAt.getTime() - other.grantedAt.getTime()
  if (between !== 0 || one.userId === other.userId) return between
  return one.userId < other.userId ? -1 : 1
}

function toHolder(userId: Id, { grantedAt, grantedBy }: GrantRow): BadgeHolder {
  return { userId, grantedAt: new Date(grantedAt), grantedBy }
}

function userBadges(tables: MemoryTables, { userId, slugs }: UserBadgesKey): Aggregate<UserBadgesState> {
  const rows = (): readonly GrantRow[] => tables.grants.get(userId) ?? []

  return {
    alive: [[`user ${userId}`, 'user']],
    load: () => ({
      known: [...new Set(slugs)].flatMap((slug) => copyOf(tables.badges.get(slug))),
      held: rows()
        .map((row) => toGrant(tables, row))
        .filter(({ badge }) => slugs.includes(badge.slug)),
    }),
    write(before, after) {
      const gone = before.held.filter(({ badge }) => !holds(after, badge)).map(({ badge }) => badge.id)
      const added = after.held.filter(({ badge }) => !holds(before, badge))
      tables.grants.set(userId, [...rows().filter((row) => !gone.includes(row.badgeId)), ...added.map(toRow)])
    },
  }
}

function holds(state: UserBadgesState, badge: Badge): boolean {
  return state.held.some((grant) => grant.badge.id === badge.id)
}

function copyOf(badge: Badge | undefined): readonly Badge[] {
  return badge === undefined ? [] : [{ ...badge }]
}

function toGrant(tables: MemoryTables, row: GrantRow): Grant {
  return { badge: { ...tables.badgeById(row.badgeId) }, grantedAt: new Date(row.grantedAt), grantedBy: row.grantedBy }
}

function toRow({ badge, grantedAt, grantedBy }: Grant): GrantRow {
  return { badgeId: badge.id, grantedAt: new Date(grantedAt), grantedBy }
}
