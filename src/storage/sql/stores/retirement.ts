import type { ForgeEvent } from '../../../schema/events.ts'
import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Removed, Retired, Retirement } from '../../contract/storage.ts'
import type { PinBoardKey } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Statement } from '../query.ts'
import { asWritten, defineQuery, mayTakeLong } from '../query.ts'
import type { Session } from '../session.ts'
import { execute, query } from '../session.ts'
import type { StoreParts } from './aggregate.ts'
import type { OrganizationKey } from './blocks.ts'
import { Blocks } from './blocks.ts'
import type { Head, HeadKey, Heads } from './locks.ts'
import { PinBoards } from './pin-boards.ts'
import type { UserKey } from './user-badges.ts'
import { UserBadges } from './user-badges.ts'

/** Creates the retirements of an SQL storage. */
export function sqlRetirement<Tx>(
  parts: StoreParts<Tx>,
): (retirement: Retirement<Tx>) => MaybePromise<readonly ForgeEvent[]> {
  const { context, runtime, heads, log } = parts
  const removals = new Removals(context, heads)

  return (theirs) => {
    const retirement = { ...theirs, retired: { ...theirs.retired } } // a copy: the caller may modify it while it waits
    return runtime.write((session, open) => retire(session, retirement, open), retirement)
  }

  function* retire(session: Session, retirement: Retirement<Tx>, open: Tx): SyncOrAsync<readonly ForgeEvent[]> {
    const removed = yield* removals.to(session, retirement.retired)
    if (removed === undefined) return []

    const { by, record } = retirement
    const events = yield* log.append(session, [record(removed)], { actorId: by.actorId, at: by.at() })
    yield* log.show(session, events, retirement, open)
    return events
  }
}

const NOTHING: Removed = { pins: 0, blocks: 0, grants: 0 }

/** Applies each retirement to the rows. Each method returns undefined if the thing was already retired. */
class Removals {
  readonly #heads: Heads
  readonly #boards: PinBoards
  readonly #blocks: Blocks
  readonly #cases: UserBadges
  readonly #queries: RetirementQueries

  constructor(context: SqlContext, heads: Heads) {
    this.#heads = heads
    this.#boards = new PinBoards(context, heads)
    this.#blocks = new Blocks(context, heads)
    this.#cases = new UserBadges(context, heads)
    this.#queries = retirementQueries(context)
  }

  to(session: Session, retired: Retired): SyncOrAsync<Removed | undefined> {
    switch (retired.thing) {
      case 'user':
        return this.#user(session, retired.userId)
      case 'organization':
        return this.#organization(session, retired.organizationId)
      case 'repository':
        return this.#repository(session, retired.repositoryId)
      case 'issue':
        return this.#issue(session, retired, retired.issueId)
      default:
        return retired satisfies never
    }
  }

  *#user(session: Session, userId: Id): SyncOrAsync<Removed | undefined> {
    const user = yield* this.#heads.lock(session, this.#cases.head({ userId }))
    if (user.retired) return undefined

    const organizations = yield* this.#lockBlockers(session, userId)
    const blocks = yield* query(session, this.#queries.removeBlocksOf({ userId }))
    for (const { organizationId } of blocks) {
      const head = organizations.get(organizationId)
      if (head !== undefined) yield* this.#raise(session, { ...head, total: head.total - 1 })
    }
    const grants = yield* query(session, this.#queries.removeGrantsOf({ userId }))
    yield* this.#raise(session, { ...user, retired: true })
    return { ...NOTHING, blocks: blocks.length, grants: grants.length }
  }

  *#organization(session: Session, organizationId: Id): SyncOrAsync<Removed | undefined> {
    const head = yield* this.#heads.lock(session, this.#blocks.head({ organizationId }))
    if (head.retired) return undefined

    yield* execute(session, this.#queries.removeBlocksBy({ organizationId }))
    yield* this.#raise(session, { ...head, total: 0, retired: true })
    return { ...NOTHING, blocks: head.total }
  }

  *#repository(session: Session, repositoryId: Id): SyncOrAsync<Removed | undefined> {
    const keys = [
      { repositoryId, kind: 'issue' },
      { repositoryId, kind: 'pullRequest' },
    ] as const
    const heads = yield* this.#lockBoards(session, keys)
    if (heads.every(([, head]) => head.retired)) return undefined

    let pins = 0
    for (const [key, head] of heads) {
      const before = yield* this.#boards.load(session, key)
      const written = yield* this.#boards.write(session, key, { before, after: [], head })
      yield* this.#raise(session, { ...written, retired: true })
      pins += before.length
    }
    return { ...NOTHING, pins }
  }

  /**
   * Removes the issue from every board of its kind that has it. It may have moved to another repository since it was
   * pinned.
   */
  *#issue(session: Session, board: PinBoardKey, issueId: Id): SyncOrAsync<Removed | undefined> {
    const heads = yield* this.#lockBoardsWith(session, board, issueId)
    const first = yield* query(session, this.#queries.entomb({ issueId }))
    if (first.length === 0) return undefined

    let pins = 0
    for (const [key, head] of heads) {
      const before = yield* this.#boards.load(session, key)
      const after = before.filter((row) => row.issueId !== issueId)
      yield* this.#raise(session, yield* this.#boards.write(session, key, { before, after, head }))
      pins += before.length - after.length
    }
    return { ...NOTHING, pins }
  }

  /**
   * A change that was pinning the issue elsewhere has ended once the issue is locked, so its board is found only then.
   * The first query locks no row, because rows are locked after their heads.
   */
  *#lockBoardsWith(
    session: Session,
    board: PinBoardKey,
    issueId: Id,
  ): SyncOrAsync<readonly (readonly [PinBoardKey, Head])[]> {
    const { boardsWith } = this.#queries
    const known = yield* this.#boardsFound(session, board, asWritten(boardsWith)({ issueId, kind: board.kind }))
    const locked = yield* this.#lockBoards(session, known)
    yield* this.#boards.lockIssues(session, [issueId])

    const names = new Set(known.map(({ repositoryId }) => repositoryId))
    const now = yield* this.#boardsFound(session, board, boardsWith({ issueId, kind: board.kind }))
    const late = now.filter(({ repositoryId }) => !names.has(repositoryId))
    return [...locked, ...(yield* this.#lockBoards(session, late))]
  }

  *#boardsFound(
    session: Session,
    { repositoryId, kind }: PinBoardKey,
    look: Statement<PinBoardKey>,
  ): SyncOrAsync<readonly PinBoardKey[]> {
    const found = yield* query(session, look)
    return [{ repositoryId, kind }, ...found.filter((one) => one.repositoryId !== repositoryId)]
  }

  *#lockBoards(session: Session, keys: readonly PinBoardKey[]): SyncOrAsync<readonly (readonly [PinBoardKey, Head])[]> {
    const wanted = keys.map((key) => ({ key, head: this.#boards.head(key) })).sort((a, b) => inOrder(a.head, b.head))
    const locked: (readonly [PinBoardKey, Head])[] = []
    for (const { key, head } of wanted) locked.push([key, yield* this.#heads.lock(session, head)])
    return locked
  }

  /** Queries twice, as for boards: the snapshot of a host's transaction may be older than the lock on the user. */
  *#lockBlockers(session: Session, userId: Id): SyncOrAsync<ReadonlyMap<Id, Head>> {
    const { organizationsBlocking } = this.#queries
    const known = yield* query(session, asWritten(organizationsBlocking)({ userId }))
    const locked = yield* this.#lockOrganizations(session, known)

    const now = yield* query(session, organizationsBlocking({ userId }))
    const late = now.filter(({ organizationId }) => !locked.has(organizationId))
    return new Map([...locked, ...(yield* this.#lockOrganizations(session, late))])
  }

  *#lockOrganizations(session: Session, keys: readonly OrganizationKey[]): SyncOrAsync<ReadonlyMap<Id, Head>> {
    const wanted = keys.map((key) => ({ key, head: this.#blocks.head(key) })).sort((a, b) => inOrder(a.head, b.head))
    const locked = new Map<Id, Head>()
    for (const { key, head } of wanted) locked.set(key.organizationId, yield* this.#heads.lock(session, head))
    return locked
  }

  *#raise(session: Session, head: Head): SyncOrAsync<void> {
    yield* this.#heads.save(session, { ...head, epoch: head.epoch + 1 })
  }
}

/** The global order of locks among heads of one kind. It keeps two retirements from waiting for each other. */
function inOrder(one: HeadKey, other: HeadKey): number {
  if (one.scope !== other.scope) return one.scope < other.scope ? -1 : 1
  return one.key < other.key ? -1 : Number(one.key > other.key)
}

/** Identifies one issue. */
export interface IssueKey {
  readonly issueId: Id
}

/** The statements of retirements. */
export interface RetirementQueries {
  readonly organizationsBlocking: Query<UserKey, OrganizationKey>
  readonly removeBlocksOf: Query<UserKey, OrganizationKey>
  readonly removeBlocksBy: Query<OrganizationKey, unknown>
  readonly removeGrantsOf: Query<UserKey, { readonly badgeId: Id }>
  readonly boardsWith: Query<IssueKey & { readonly kind: PinKind }, PinBoardKey>
  /** Returns a row the first time only. */
  readonly entomb: Query<IssueKey, IssueKey>
}

/** Defines the statements of retirements. */
function retirementQueries(context: SqlContext): RetirementQueries {
  return {
    organizationsBlocking: mayTakeLong(organizationsBlockingQuery(context)),
    removeBlocksOf: mayTakeLong(removeBlocksOfQuery(context)),
    removeBlocksBy: mayTakeLong(removeBlocksByQuery(context)),
    removeGrantsOf: mayTakeLong(removeGrantsOfQuery(context)),
    boardsWith: boardsWithQuery(context),
    entomb: entombQuery(context),
  }
}

function organizationsBlockingQuery({ build, ids, columns }: SqlContext): RetirementQueries['organizationsBlocking'] {
  return defineQuery((given) =>
    build
      .selectFrom('organization_blocks')
      .select(columns.id('organization_id').as('organizationId'))
      .where('user_id', '=', ids.given('user', given('userId'))),
  )
}

function removeBlocksOfQuery({ build, ids, columns }: SqlContext): RetirementQueries['removeBlocksOf'] {
  return defineQuery((given) =>
    build
      .deleteFrom('organization_blocks')
      .where('user_id', '=', ids.given('user', given('userId')))
      .returning(columns.id('organization_id').as('organizationId')),
  )
}

function removeBlocksByQuery({ build, ids }: SqlContext): RetirementQueries['removeBlocksBy'] {
  return defineQuery((given) =>
    build
      .deleteFrom('organization_blocks')
      .where('organization_id', '=', ids.given('organization', given('organizationId'))),
  )
}

function removeGrantsOfQuery({ build, ids, columns }: SqlContext): RetirementQueries['removeGrantsOf'] {
  return defineQuery((given) =>
    build
      .deleteFrom('user_grants')
      .where('user_id', '=', ids.given('user', given('userId')))
      .returning(columns.id('badge_id').as('badgeId')),
  )
}

function boardsWithQuery({ build, ids, columns }: SqlContext): RetirementQueries['boardsWith'] {
  return defineQuery((given) =>
    build
      .selectFrom('board_pins')
      .select([columns.id('repository_id').as('repositoryId'), 'kind'])
      .where('issue_id', '=', ids.given('issue', given('issueId')))
      .where('kind', '=', given('kind')),
  )
}

function entombQuery({ build, ids, dialect, columns }: SqlContext): RetirementQueries['entomb'] {
  return defineQuery((given) => {
    const tombstone = { issue_id: ids.given('issue', given('issueId')) }
    return dialect
      .skipExisting(build.insertInto('issue_tombstones').values(tombstone))
      .returning(columns.id('issue_id').as('issueId'))
  })
}
