import { notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Badge, BadgeHolder, Block, Grant, OrganizationBlock, UserBlock } from '../../schema/records.ts'
import type { Retired } from '../contract/storage.ts'
import type {
  AggregateStores,
  BadgeCatalogueState,
  BadgeCatalogueStore,
  BlockState,
  BlockStore,
  IssueImportStore,
  PageQuery,
  PinBoardKey,
  PinBoardStore,
  PinRow,
  UserBadgesState,
  UserBadgesStore,
  UserBlockKey,
  UserBlockStore,
} from '../contract/stores.ts'
import { copyOf } from './copy.ts'
import { compareSortKeys, cutPage } from './pages.ts'
import type { Aggregate, Memory } from './tables.ts'
import { Table } from './tables.ts'

/** Creates the stores of the aggregates. Each has its own rows, and says which are removed with a retired thing. */
export function memoryAggregates(memory: Memory): AggregateStores<undefined> {
  return { pinBoards: pinBoards(memory), ...blocks(memory), ...badges(memory), issueImports: issueImports(memory) }
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
    copyOf(on(key)).map(({ repositoryId: _, kind: __, ...row }) => row)

  const board = (key: PinBoardKey): Aggregate<readonly PinRow[]> => ({
    things: [['repository', key.repositoryId]],
    load: () => load(key),
    check(after) {
      if (after.some(({ issueId }) => memory.isRetired('issue', issueId))) throw notFound('issue')
    },
    write(_before, after) {
      const { repositoryId, kind } = key
      const others = pins.rows.filter((pin) => !isOn(key, pin))
      pins.replace([...others, ...copyOf(after).map((row) => ({ repositoryId, kind, ...row }))])
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

/** The blocks: those by organizations, and those by users. */
function blocks(memory: Memory): {
  readonly blocks: BlockStore<undefined>
  readonly userBlocks: UserBlockStore<undefined>
} {
  const ofOrganizations = blockRows<OrganizationBlock>(
    memory,
    (block) => block.organizationId,
    (block, retired) =>
      retired.thing === 'user'
        ? block.userId === retired.userId
        : retired.thing === 'organization' && block.organizationId === retired.organizationId,
  )
  const ofUsers = blockRows<UserBlock>(
    memory,
    (block) => block.blockerId,
    (block, retired) =>
      retired.thing === 'user' && (block.userId === retired.userId || block.blockerId === retired.userId),
  )
  const epochs = new Map<Id, number>()
  const epoch = (organizationId: Id): number => {
    memory.refuseClosed()
    return epochs.get(organizationId) ?? 0
  }

  const aggregate = (organizationId: Id, userId: Id): Aggregate<BlockState> => ({
    things: [
      ['user', userId],
      ['organization', organizationId],
    ],
    load: () => ({ block: ofOrganizations.find(organizationId, userId), epoch: epoch(organizationId) }),
    write(before, after) {
      epochs.set(organizationId, after.epoch)
      if (after.block !== before.block) ofOrganizations.write(organizationId, userId, after.block)
    },
  })

  const ofUser = ({ blockerId, userId }: UserBlockKey): Aggregate<UserBlock | undefined> => ({
    things: [
      ['user', userId],
      ['user', blockerId],
    ],
    load: () => ofUsers.find(blockerId, userId),
    write: (_before, after) => ofUsers.write(blockerId, userId, after),
  })

  return {
    blocks: {
      update: ({ organizationId, userId }, change) => memory.update(aggregate(organizationId, userId), change),
      epoch,
      find: ({ organizationId, userId }) => ofOrganizations.find(organizationId, userId),
      among: (organizationId, userIds) => ofOrganizations.among(organizationId, userIds),
      page: (organizationId, query) => ofOrganizations.page(['organization', organizationId], query),
    },
    userBlocks: {
      update: ({ blockerId, userId }, change) => memory.update(ofUser({ blockerId, userId }), change),
      find: ({ blockerId, userId }) => ofUsers.find(blockerId, userId),
      among: ({ blockerId, organizationId }, userIds) => ({
        byUser: ofUsers.among(blockerId, userIds),
        byOrganization: organizationId === undefined ? new Set() : ofOrganizations.among(organizationId, userIds),
      }),
      page: (blockerId, query) => ofUsers.page(['user', blockerId], query),
    },
  }
}

/** Creates the blocks by organizations, or those by users, with numbers in the order of blocking. */
function blockRows<B extends Block>(
  memory: Memory,
  blockerOf: (block: B) => Id,
  isPartOf: (block: B, retired: Retired) => boolean,
) {
  const table = memory.table<{ readonly order: number; readonly block: B }>({
    counted: 'blocks',
    isPartOf: ({ block }, retired) => isPartOf(block, retired),
  })
  const by = (blocker: Id) => table.rows.filter(({ block }) => blockerOf(block) === blocker)
  let lastOrder = 0

  return {
    find: (blocker: Id, userId: Id): B | undefined =>
      copyOf(by(blocker).find(({ block }) => block.userId === userId)?.block),

    among(blocker: Id, userIds: readonly Id[]): ReadonlySet<Id> {
      const blocked = new Set(by(blocker).map(({ block }) => block.userId))
      return new Set(userIds.filter((userId) => blocked.has(userId)))
    },

    page(blocker: readonly ['organization' | 'user', Id], query: PageQuery): Page<B> {
      const page = cutPage(by(blocker[1]), ({ order }) => [order, ''], query)
      memory.refuseRetired(blocker)
      return { ...page, items: page.items.map(({ block }) => block) }
    },

    /** Sets or removes a block. One that is replaced keeps its position; a user who is blocked again comes last. */
    write(blocker: Id, userId: Id, written: B | undefined): void {
      const isIt = ({ block }: { readonly block: B }): boolean =>
        blockerOf(block) === blocker && block.userId === userId
      const { rows } = table
      const block = copyOf(written)
      if (block === undefined) table.replace(rows.filter((row) => !isIt(row)))
      else if (rows.some(isIt)) table.replace(rows.map((row) => (isIt(row) ? { order: row.order, block } : row)))
      else {
        lastOrder += 1
        table.replace([...rows, { order: lastOrder, block }])
      }
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

  const find = (slug: string): Badge | undefined => copyOf(definitions.rows.find((one) => one.slug === slug))
  const holdersOf = (badge: Badge | undefined) => table.rows.filter(({ badgeId }) => badgeId === badge?.id)
  const heldBy = (userId: Id): readonly Grant[] =>
    copyOf(table.rows.filter((grant) => grant.userId === userId)).flatMap(({ badgeId, grantedAt, grantedBy }) =>
      definitions.rows
        .filter(({ id }) => id === badgeId)
        .map((badge) => ({ badge: { ...badge }, grantedAt, grantedBy })),
    )

  const grants = (userId: Id, slugs: readonly string[]): Aggregate<UserBadgesState> => ({
    things: [['user', userId]],
    load: () => ({
      known: copyOf(definitions.rows.filter(({ slug }) => slugs.includes(slug))),
      held: heldBy(userId).filter(({ badge }) => slugs.includes(badge.slug)),
    }),
    write(before, after) {
      const gone = before.held.filter(({ badge }) => !holds(after, badge)).map(({ badge }) => badge.id)
      const added = copyOf(after.held.filter(({ badge }) => !holds(before, badge))).map(({ badge, ...grant }) => ({
        userId,
        badgeId: badge.id,
        ...grant,
      }))
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
      const badge = copyOf(after)
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
        const sortKeyOf = ({ userId, grantedAt }: BadgeHolder) => [grantedAt.getTime(), userId] as const
        const holders = holdersOf(badge)
          .map(({ badgeId: _, ...holder }) => holder)
          .sort((one, other) => compareSortKeys(sortKeyOf(one), sortKeyOf(other)))
        return badge && cutPage(holders, sortKeyOf, query)
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
