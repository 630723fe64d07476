import { notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type {
  Badge,
  BadgeHolder,
  Block,
  Decision,
  EventDraft,
  ForgeEvent,
  Grant,
  HostThing,
} from '../../schema/records.ts'
import type { Retired, Retirement } from '../contract/storage.ts'
import type {
  AggregateStores,
  BadgeCatalogueState,
  BadgeCatalogueStore,
  BlockState,
  BlockStore,
  Change,
  IssueImportStore,
  Outcome,
  PinBoardKey,
  PinBoardStore,
  PinRow,
  UserBadgesState,
  UserBadgesStore,
} from '../contract/stores.ts'
import type { KeptBlock, KeptGrant, KeptPin, Memory, ThingName } from './tables.ts'
import { comparePlaces, cutPage } from './tables.ts'

/** Creates the stores of the aggregates. */
export function memoryAggregates(memory: Memory): AggregateStores<undefined> {
  return {
    pinBoards: pinBoards(memory),
    blocks: blocks(memory),
    userBadges: userBadges(memory),
    badgeCatalogue: badgeCatalogue(memory),
    issueImports: issueImports(memory),
  }
}

/** One aggregate: how a change loads and writes it. */
interface Aggregate<State> {
  /** What must not be retired. */
  readonly things: readonly (readonly [HostThing, Id])[]
  load(): State
  /** Throws if something may not be added. */
  check?(after: State): void
  write(before: State, after: State): void
}

/** Runs one change: loads, decides, writes all or nothing with the events. */
function update<State, Result, Prepared>(
  memory: Memory,
  aggregate: Aggregate<State>,
  change: Change<State, Result, undefined, Prepared>,
): Outcome<Result> {
  change.signal?.throwIfAborted()
  memory.refuseRetired(...aggregate.things)
  const before = aggregate.load()
  const decide = prepared(memory, before, change)
  const at = change.by.at()
  const { state: after, events: drafts, result } = decide(before, at)
  aggregate.check?.(after)
  const events = memory.commit(drafts, at, change, () => {
    if (after !== before) aggregate.write(before, after)
  })
  return { result, events }
}

/** Calls the host's `prepare`, if there is one, and returns the decision with its answer. */
function prepared<State, Result, Prepared>(
  memory: Memory,
  before: State,
  change: Change<State, Result, undefined, Prepared>,
): (state: State, at: Date) => Decision<State, Result, EventDraft> {
  if (change.prepare === undefined) return change.decide

  const { prepare, decide } = change
  const answer = memory.lend(() => prepare(before, undefined))
  return (state, at) => decide(state, at, answer)
}

function pinBoards(memory: Memory): PinBoardStore<undefined> {
  const load = (key: PinBoardKey): readonly PinRow[] =>
    memory.tables.pins
      .filter((pin) => isOn(key, pin))
      .map(({ issueId, pinnedAt, pinnedBy }) => ({ issueId, pinnedAt: new Date(pinnedAt), pinnedBy }))

  const board = (key: PinBoardKey): Aggregate<readonly PinRow[]> => ({
    things: [['repository', key.repositoryId]],
    load: () => load(key),
    check(after) {
      if (after.some(({ issueId }) => memory.tables.retired.has(`issue ${issueId}`))) throw notFound('issue')
    },
    write(_before, after) {
      const { repositoryId, kind } = key
      const pins = after.map((row) => ({ repositoryId, kind, ...row, pinnedAt: new Date(row.pinnedAt) }))
      memory.tables.pins = [...memory.tables.pins.filter((pin) => !isOn(key, pin)), ...pins]
    },
  })

  return {
    update: (key, change) => update(memory, board(key), change),
    load(key) {
      memory.refuseRetired(['repository', key.repositoryId])
      return load(key)
    },
    positions: (issues) =>
      issues.map(({ issueId, ...key }) => {
        const index = load(key).findIndex((pin) => pin.issueId === issueId)
        return index < 0 ? undefined : index + 1
      }),
  }
}

function isOn({ repositoryId, kind }: PinBoardKey, pin: PinBoardKey): boolean {
  return pin.repositoryId === repositoryId && pin.kind === kind
}

function blocks(memory: Memory): BlockStore<undefined> {
  const epoch = (organizationId: Id): number => memory.tables.epochs.get(organizationId) ?? 0
  const of = (organizationId: Id): readonly KeptBlock[] =>
    memory.tables.blocks.filter((block) => block.organizationId === organizationId)
  const find = (organizationId: Id, userId: Id): Block | undefined =>
    of(organizationId)
      .filter((block) => block.userId === userId)
      .map(toBlock)[0]

  const block = (organizationId: Id, userId: Id): Aggregate<BlockState> => ({
    things: [
      ['user', userId],
      ['organization', organizationId],
    ],
    load: () => ({ block: find(organizationId, userId), epoch: epoch(organizationId) }),
    write(before, after) {
      const { tables } = memory
      tables.epochs.set(organizationId, after.epoch)
      if (after.block === before.block) return

      const isKept = (one: Block): boolean => one.organizationId !== organizationId || one.userId !== userId
      const block = after.block && toBlock(after.block)
      if (block === undefined) tables.blocks = tables.blocks.filter(isKept)
      else if (before.block !== undefined) {
        tables.blocks = tables.blocks.map((one) => (isKept(one) ? one : { place: one.place, ...block }))
      } else {
        tables.last.block += 1 // a user who is blocked again comes last
        tables.blocks = [...tables.blocks, { place: tables.last.block, ...block }]
      }
    },
  })

  return {
    update: ({ organizationId, userId }, change) => update(memory, block(organizationId, userId), change),
    epoch,
    find: ({ organizationId, userId }) => find(organizationId, userId),
    among(organizationId, userIds) {
      const blocked = new Set(of(organizationId).map(({ userId }) => userId))
      return new Set(userIds.filter((userId) => blocked.has(userId)))
    },
    page(organizationId, query) {
      memory.refuseRetired(['organization', organizationId])
      const page = cutPage(of(organizationId), ({ place }) => [place, ''], query)
      return { ...page, items: page.items.map(toBlock) }
    },
  }
}

function toBlock({ organizationId, userId, note, blockedAt, blockedBy }: Block): Block {
  return { organizationId, userId, note, blockedAt: new Date(blockedAt), blockedBy }
}

function userBadges(memory: Memory): UserBadgesStore<undefined> {
  const heldBy = (userId: Id): readonly Grant[] =>
    memory.tables.grants.filter((grant) => grant.userId === userId).map(toGrant)

  function toGrant({ badgeId, grantedAt, grantedBy }: KeptGrant): Grant {
    const badge = memory.tables.badges.find(({ id }) => id === badgeId)
    if (badge === undefined) throw new RangeError(`a grant refers to badge ${badgeId}, which is not in the catalogue`)
    return { badge: { ...badge }, grantedAt: new Date(grantedAt), grantedBy }
  }

  const grants = (userId: Id, slugs: readonly string[]): Aggregate<UserBadgesState> => ({
    things: [['user', userId]],
    load: () => ({
      known: memory.tables.badges.filter(({ slug }) => slugs.includes(slug)).map((badge) => ({ ...badge })),
      held: heldBy(userId).filter(({ badge }) => slugs.includes(badge.slug)),
    }),
    write(before, after) {
      const gone = before.held.filter(({ badge }) => !holds(after, badge)).map(({ badge }) => badge.id)
      const added = after.held.filter(({ badge }) => !holds(before, badge)).map((grant) => toKept(userId, grant))
      const kept = memory.tables.grants.filter((grant) => grant.userId !== userId || !gone.includes(grant.badgeId))
      memory.tables.grants = [...kept, ...added]
    },
  })

  return {
    update: ({ userId, slugs }, change) => update(memory, grants(userId, slugs), change),
    heldBy(userId) {
      memory.refuseRetired(['user', userId])
      return heldBy(userId)
    },
    heldByMany: (userIds) => userIds.map(heldBy),
    holders(slug, query) {
      const badge = memory.tables.badges.find((one) => one.slug === slug)
      const placeOf = ({ userId, grantedAt }: BadgeHolder) => [grantedAt.getTime(), userId] as const
      const holders = memory.tables.grants
        .filter(({ badgeId }) => badgeId === badge?.id)
        .map(({ userId, grantedAt, grantedBy }) => ({ userId, grantedAt: new Date(grantedAt), grantedBy }))
        .sort((one, other) => comparePlaces(placeOf(one), placeOf(other)))
      return badge && cutPage(holders, placeOf, query)
    },
  }
}

function holds(state: UserBadgesState, { id }: Badge): boolean {
  return state.held.some(({ badge }) => badge.id === id)
}

function toKept(userId: Id, { badge, grantedAt, grantedBy }: Grant): KeptGrant {
  return { userId, badgeId: badge.id, grantedAt: new Date(grantedAt), grantedBy }
}

function badgeCatalogue(memory: Memory): BadgeCatalogueStore<undefined> {
  const find = (slug: string): Badge | undefined =>
    memory.tables.badges.filter((badge) => badge.slug === slug).map((badge) => ({ ...badge }))[0]

  const entry = (slug: string): Aggregate<BadgeCatalogueState> => ({
    things: [],
    load() {
      const { grants, last } = memory.tables
      const badge = find(slug)
      const holders = grants.filter(({ badgeId }) => badgeId === badge?.id).length
      return { badge, holders, nextId: String(last.badge + 1) }
    },
    write({ badge: before }, { badge: after }) {
      const { tables } = memory
      if (before !== undefined && after !== undefined) {
        tables.badges = tables.badges.map((badge) => (badge.slug === slug ? { ...after } : badge))
      } else {
        const others = tables.badges.filter((badge) => badge.slug !== slug)
        tables.badges = after === undefined ? others : [...others, { ...after }]
        if (after !== undefined) tables.last.badge += 1
      }
    },
  })

  return {
    update: ({ slug }, change) => update(memory, entry(slug), change),
    find,
    page(query) {
      const page = cutPage(memory.tables.badges, ({ id }) => [Number(id), ''], query)
      return { ...page, items: page.items.map((badge) => ({ ...badge })) }
    },
  }
}

/** Imports have no rows. */
function issueImports(memory: Memory): IssueImportStore<undefined> {
  const imports = (repositoryId: Id): Aggregate<undefined> => ({
    things: [['repository', repositoryId]],
    load: () => undefined,
    write: () => undefined,
  })

  return { update: ({ repositoryId }, change) => update(memory, imports(repositoryId), change) }
}

/** Retires one thing of the host, with all rows that belong to it. Nothing happens if it is retired already. */
export function retire(memory: Memory, retirement: Retirement<undefined>): readonly ForgeEvent[] {
  const { by, record, retired } = retirement
  const { tables } = memory
  const name = nameOf(retired)
  if (tables.retired.has(name)) return []

  const goes = rowsOf(retired)
  const removed = {
    pins: tables.pins.filter(goes.pin).length,
    blocks: tables.blocks.filter(goes.block).length,
    grants: tables.grants.filter(goes.grant).length,
  }
  return memory.commit([record(removed)], by.at(), retirement, () => {
    tables.pins = tables.pins.filter((pin) => !goes.pin(pin))
    tables.blocks = tables.blocks.filter((block) => !goes.block(block))
    tables.grants = tables.grants.filter((grant) => !goes.grant(grant))
    tables.retired.add(name)
  })
}

/** What tells the rows that go with a thing from the others. */
interface RowsOfThing {
  pin(pin: KeptPin): boolean
  block(block: KeptBlock): boolean
  grant(grant: KeptGrant): boolean
}

const NONE: RowsOfThing = { pin: () => false, block: () => false, grant: () => false }

/** An issue goes from every board that has it, because a transfer to another repository needs no call. */
function rowsOf(retired: Retired): RowsOfThing {
  switch (retired.thing) {
    case 'user': {
      const isOfUser = ({ userId }: KeptBlock | KeptGrant): boolean => userId === retired.userId
      return { ...NONE, block: isOfUser, grant: isOfUser }
    }
    case 'organization':
      return { ...NONE, block: ({ organizationId }) => organizationId === retired.organizationId }
    case 'repository':
      return { ...NONE, pin: ({ repositoryId }) => repositoryId === retired.repositoryId }
    case 'issue':
      return { ...NONE, pin: ({ issueId, kind }) => issueId === retired.issueId && kind === retired.kind }
    default:
      return retired satisfies never
  }
}

function nameOf(retired: Retired): ThingName {
  switch (retired.thing) {
    case 'user':
      return `user ${retired.userId}`
    case 'organization':
      return `organization ${retired.organizationId}`
    case 'repository':
      return `repository ${retired.repositoryId}`
    case 'issue':
      return `issue ${retired.issueId}`
    default:
      return retired satisfies never
  }
}
