import type { Badge, Grant } from '../../schema/records.ts'
import type { UserBadgesKey, UserBadgesState, UserBadgesStore } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { refuseRetired, updateAggregate } from './aggregate.ts'
import type { GrantRow, MemoryTables } from './memory-tables.ts'
import type { MemoryStore, Removals } from './retirement.ts'
import { keepAll } from './retirement.ts'

/** Creates the user badges of a memory storage. */
export function memoryUserBadges(tables: MemoryTables): MemoryStore<UserBadgesStore<undefined>> {
  const store: UserBadgesStore<undefined> = {
    update: (key, change) => updateAggregate(tables, userBadges(tables, key), change),
    heldBy(userId) {
      refuseRetired(tables, [[`user ${userId}`, 'user']])
      return (tables.grants.get(userId) ?? []).map((row) => toGrant(tables, row))
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
