import { notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Badge, BadgeHolder, Block, Grant } from '../../schema/records.ts'
import type {
  AggregateStores,
  BadgeCatalogueState,
  BadgeCatalogueStore,
  BlockState,
  BlockStore,
  IssueImportStore,
  PinBoardKey,
  PinBoardStore,
  PinRow,
  UserBadgesState,
  UserBadgesStore,
} from '../contract/stores.ts'
import { comparePlaces, cutPage } from './pages.ts'
import type { Aggregate, Memory } from './tables.ts'
import { Table } from './tables.ts'

/** Creates the stores of the aggregates. Each has its own rows, and says which are removed with a retired thing. */
export function memoryAggregates(memory: Memory): AggregateStores<undefined> {
  return { pinBoards: pinBoards(memory), blocks: blocks(memory), ...badges(memory), issueImports: issueImports(memory) }
}

function pinBoards(memory: Memory): PinBoardStore<undefined> {
  /** The pins of one board are in order. */
  const pins = memory.table<PinBoardKey & PinRow>({
    counted: 'pins',
    // An issue goes from every board that has it: neither a transfer to another repository nor a change of its kind needs a call.
    isPartOf: (pin, retired) =>
      retired.thing === 'issue'
        ? pin.issueId === retired.issueId
        : retired.thing === 'repository' && pin.repositoryId === retired.repositoryId,
  })
  const isOn = ({ repositoryId, kind }: PinBoardKey, pin: PinBoardKey): boolean =>
    pin.repositoryId === repositoryId && pin.kind === kind
  const on = (key: PinBoardKey) => pins.rows.filter((pin) => isOn(key, pin))
  const load = (key: PinBoardKey): readonly PinRow[] =>
    structuredClone(on(key)).map(({ repositoryId: _, kind: __, ...row }) => row)

  const board = (key: PinBoardKey): Aggregate<readonly PinRow[]> => ({
    things: [['repository', key.repositoryId]],
    load: () => load(key),
    check(after) {
      if (after.some(({ issueId }) => memory.isRetired('issue', issueId))) throw notFound('issue')
    },
    write(_before, after) {
      const { repositoryId, kind } = key
      const others = pins.rows.filter((pin) => !isOn(key, pin))
      pins.replace([...others, ...structuredClone(after).map((row) => ({ repositoryId, kind, ...row }))])
    },
  })

  return {
    update: (key, change) => memory.update(board(key), change),
    load(key) {
      memory.refuseRetired(['repository', key.repositoryId])
      return load(key)
    },
    positions: (issues) =>
      issues.map(({ issueId, ...key }) => {
        const index = on(key).findIndex((pin) => pin.issueId === issueId)
        return index < 0 ? undefined : index + 1
      }),
  }
}

function blocks(memory: Memory): BlockStore<undefined> {
  /** The blocks, with their places in the order of blocking. */
  const table = memory.table<{ readonly place: number; readonly block: Block }>({
    counted: 'blocks',
    isPartOf: ({ block }, retired) =>
      retired.thing === 'user'
        ? block.userId === retired.userId
        : retired.thing === 'organization' && block.organizationId === retired.organizationId,
  })
  const epochs = new Map<Id, number>()
  let lastPlace = 0

  const of = (organizationId: Id) => table.rows.filter(({ block }) => block.organizationId === organizationId)
  const find = (organizationId: Id, userId: Id): Block | undefined =>
    structuredClone(of(organizationId).find(({ block }) => block.userId === userId)?.block)
  const epoch = (organizationId: Id): number => {
    memory.refuseClosed()
    return epochs.get(organizationId) ?? 0
  }

  const aggregate = (organizationId: Id, userId: Id): Aggregate<BlockState> => ({
    things: [
      ['user', userId],
      ['organization', organizationId],
    ],
    load: () => ({ block: find(organizationId, userId), epoch: epoch(organizationId) }),
    write(before, after) {
      epochs.set(organizationId, after.epoch)
      if (after.block === before.block) return

      const isKept = ({ block }: { readonly block: Block }): boolean =>
        block.organizationId !== organizationId || block.userId !== userId
      const block = structuredClone(after.block)
      if (block === undefined) table.replace(table.rows.filter(isKept))
      else if (before.block !== undefined) {
        table.replace(table.rows.map((row) => (isKept(row) ? row : { place: row.place, block })))
      } else {
        lastPlace += 1 // a user who is blocked again comes last
        table.replace([...table.rows, { place: lastPlace, block }])
      }
    },
  })

  return {
    update: ({ organizationId, userId }, change) => memory.update(aggregate(organizationId, userId), change),
    epoch,
    find: ({ organizationId, userId }) => find(organizationId, userId),
    among(organizationId, userIds) {
      const blocked = new Set(of(organizationId).map(({ block }) => block.userId))
      return new Set(userIds.filter((userId) => blocked.has(userId)))
    },
    page(organizationId, query) {
      const page = cutPage(of(organizationId), ({ place }) => [place, ''], query)
      memory.refuseRetired(['organization', organizationId])
      return { ...page, items: page.items.map(({ block }) => block) }
    },
  }
}

/** The badges of users, and the catalogue: a grant shows the definition as it is now. */
function badges(memory: Memory): {
  readonly userBadges: UserBadgesStore<undefined>
  readonly badgeCatalogue: BadgeCatalogueStore<undefined>
} {
  const definitions = new Table<Badge>(memory)
  const table = memory.table<BadgeHolder & { readonly badgeId: Id }>({
    counted: 'grants',
    isPartOf: (grant, retired) => retired.thing === 'user' && grant.userId === retired.userId,
  })
  let lastBadge = 0

  const find = (slug: string): Badge | undefined => structuredClone(definitions.rows.find((one) => one.slug === slug))
  const holdersOf = (badge: Badge | undefined) => table.rows.filter(({ badgeId }) => badgeId === badge?.id)
  const heldBy = (userId: Id): readonly Grant[] =>
    structuredClone(table.rows.filter((grant) => grant.userId === userId)).flatMap(
      ({ badgeId, grantedAt, grantedBy }) =>
        definitions.rows
          .filter(({ id }) => id === badgeId)
          .map((badge) => ({ badge: { ...badge }, grantedAt, grantedBy })),
    )

  const grants = (userId: Id, slugs: readonly string[]): Aggregate<UserBadgesState> => ({
    things: [['user', userId]],
    load: () => ({
      known: structuredClone(definitions.rows.filter(({ slug }) => slugs.includes(slug))),
      held: heldBy(userId).filter(({ badge }) => slugs.includes(badge.slug)),
    }),
    write(before, after) {
      const gone = before.held.filter(({ badge }) => !holds(after, badge)).map(({ badge }) => badge.id)
      const added = structuredClone(after.held.filter(({ badge }) => !holds(before, badge))).map(
        ({ badge, ...grant }) => ({ userId, badgeId: badge.id, ...grant }),
      )
      const kept = table.rows.filter((grant) => grant.userId !== userId || !gone.includes(grant.badgeId))
      table.replace([...kept, ...added])
    },
  })

  const entry = (slug: string): Aggregate<BadgeCatalogueState> => ({
    things: [],
    load() {
      const badge = find(slug)
      return { badge, holders: holdersOf(badge).length, nextId: String(lastBadge + 1) }
    },
    write({ badge: before }, { badge: after }) {
      const badge = structuredClone(after)
      if (before !== undefined && badge !== undefined) {
        definitions.replace(definitions.rows.map((one) => (one.slug === slug ? badge : one)))
      } else {
        const others = definitions.rows.filter((one) => one.slug !== slug)
        definitions.replace(badge === undefined ? others : [...others, badge])
        if (badge !== undefined) lastBadge += 1
      }
    },
  })

  return {
    userBadges: {
      update: ({ userId, slugs }, change) => memory.update(grants(userId, slugs), change),
      heldBy(userId) {
        memory.refuseRetired(['user', userId])
        return heldBy(userId)
      },
      heldByMany: (userIds) => userIds.map(heldBy),
      holders(slug, query) {
        const badge = find(slug)
        const placeOf = ({ userId, grantedAt }: BadgeHolder) => [grantedAt.getTime(), userId] as const
        const holders = holdersOf(badge)
          .map(({ badgeId: _, ...holder }) => holder)
          .sort((one, other) => comparePlaces(placeOf(one), placeOf(other)))
        return badge && cutPage(holders, placeOf, query)
      },
    },
    badgeCatalogue: {
      update: ({ slug }, change) => memory.update(entry(slug), change),
      find,
      page: (query) => cutPage(definitions.rows, ({ id }) => [Number(id), ''], query),
    },
  }
}

function holds(state: UserBadgesState, { id }: Badge): boolean {
  return state.held.some(({ badge }) => badge.id === id)
}

/** Imports have no rows. */
function issueImports(memory: Memory): IssueImportStore<undefined> {
  return {
    update: ({ repositoryId }, change) =>
      memory.update({ things: [['repository', repositoryId]], load: () => undefined, write: () => undefined }, change),
  }
}
