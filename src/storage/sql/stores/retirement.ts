import type { ForgeEvent } from '../../../schema/events.ts'
import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Removed, Retired, Retirement } from '../../contract/storage.ts'
import type { PinBoardKey, PinRow } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery, mayTakeLong } from '../query.ts'
import type { Session } from '../session.ts'
import { defer, query, queryEach, queryEachAfter } from '../session.ts'
import type { StoreParts } from './aggregate.ts'
import type { OrganizationKey } from './blocks.ts'
import { Blocks } from './blocks.ts'
import type { Head, HeadKey, Heads } from './locks.ts'
import type { StoredPin } from './pin-boards.ts'
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
    const { removeBlocksOf, removeGrantsOf } = this.#queries
    const [blocks, grants] = yield* queryEach<[OrganizationKey, { readonly badgeId: Id }]>(session, [
      removeBlocksOf({ userId }),
      removeGrantsOf({ userId }),
    ])
    for (const { organizationId } of blocks) {
      const head = organizations.get(organizationId)
      if (head !== undefined) yield* this.#raise(session, { ...head, total: head.total - 1 })
    }
    yield* this.#raise(session, { ...user, retired: true })
    return { ...NOTHING, blocks: blocks.length, grants: grants.length }
  }

  *#organization(session: Session, organizationId: Id): SyncOrAsync<Removed | undefined> {
    const head = yield* this.#heads.lock(session, this.#blocks.head({ organizationId }))
    if (head.retired) return undefined

    yield* defer(session, this.#queries.removeBlocksBy({ organizationId }))
    yield* this.#raise(session, { ...head, total: 0, retired: true })
    return { ...NOTHING, blocks: head.total }
  }

  *#repository(session: Session, repositoryId: Id): SyncOrAsync<Removed | undefined> {
    const kinds: readonly PinKind[] = ['issue', 'pullRequest']
    const wanted = this.#inOrder(kinds.map((kind) => ({ repositoryId, kind })))
    const loading = wanted.flatMap(({ key }) => this.#boards.loading(key))
    const { heads, rows } = yield* this.#heads.lockEach<readonly StoredPin[]>(session, wanted.map(toHeadKey), loading)
    if (heads.every((head) => head.retired)) return undefined

    const boards = locked(wanted, heads).map(({ key, head }) => ({ key, head: { ...head, retired: true } }))
    return { ...NOTHING, pins: yield* this.#keepPins(session, boards, rows, () => false) }
  }

  /**
   * Removes the issue from every board of its kind that has it. It may have moved to another repository since it was
   * pinned.
   */
  *#issue(session: Session, board: PinBoardKey, issueId: Id): SyncOrAsync<Removed | undefined> {
    const boards = yield* this.#lockBoardsWith(session, board, issueId)
    const loading = boards.flatMap(({ key }) => this.#boards.loading(key))
    const entomb = this.#queries.entomb({ issueId })
    const [[first], rows] = yield* queryEachAfter<IssueKey, readonly StoredPin[]>(session, [entomb], loading)
    if (first === undefined || first.length === 0) return undefined

    return { ...NOTHING, pins: yield* this.#keepPins(session, boards, rows, (row) => row.issueId !== issueId) }
  }

  /** Writes locked boards without the pins that are not to be kept. Returns how many these are. */
  *#keepPins(
    session: Session,
    boards: readonly Locked<PinBoardKey>[],
    rows: readonly (readonly StoredPin[])[],
    isKept: (row: PinRow) => boolean,
  ): SyncOrAsync<number> {
    let pins = 0
    for (const [index, { key, head }] of boards.entries()) {
      const before = this.#boards.state(key, [rows[index] ?? []])
      const after = before.filter(isKept)
      yield* this.#raise(session, yield* this.#boards.write(session, key, { before, after, head }))
      pins += before.length - after.length
    }
    return pins
  }

  /**
   * A change that was pinning the issue elsewhere has ended once the issue is locked, so its board is found only then.
   * The first query locks no row, because rows are locked after their heads.
   */
  *#lockBoardsWith(session: Session, board: PinBoardKey, issueId: Id): SyncOrAsync<readonly Locked<PinBoardKey>[]> {
    const boardsWith = this.#queries.boardsWith({ issueId, kind: board.kind })
    const known = this.#inOrder(andThose(board, yield* query(session, { ...boardsWith, asWritten: true })))
    const wanted = [...known.map(toHeadKey), this.#boards.issueHead(issueId)]
    const { heads, rows } = yield* this.#heads.lockEach<[PinBoardKey]>(session, wanted, [boardsWith])

    const names = new Set(known.map(({ key }) => key.repositoryId))
    const late = this.#inOrder(rows[0].filter(({ repositoryId }) => !names.has(repositoryId)))
    return [...locked(known, heads), ...(yield* this.#lockLate(session, late))]
  }

  /** Queries twice, as for boards: the snapshot of a host's transaction may be older than the lock on the user. */
  *#lockBlockers(session: Session, userId: Id): SyncOrAsync<ReadonlyMap<Id, Head>> {
    const blocking = this.#queries.organizationsBlocking({ userId })
    const known = inOrder(yield* query(session, { ...blocking, asWritten: true }), (key) => this.#blocks.head(key))
    const { heads, rows } = yield* this.#heads.lockEach<[OrganizationKey]>(session, known.map(toHeadKey), [blocking])

    const names = new Set(known.map(({ key }) => key.organizationId))
    const found = rows[0].filter(({ organizationId }) => !names.has(organizationId))
    const late = inOrder(found, (key) => this.#blocks.head(key))
    const all = [...locked(known, heads), ...(yield* this.#lockLate(session, late))]
    return new Map(all.map(({ key, head }) => [key.organizationId, head]))
  }

  *#lockLate<Key>(session: Session, late: readonly Wanted<Key>[]): SyncOrAsync<readonly Locked<Key>[]> {
    if (late.length === 0) return []

    const { heads } = yield* this.#heads.lockEach(session, late.map(toHeadKey), [])
    return locked(late, heads)
  }

  #inOrder(keys: readonly PinBoardKey[]): readonly Wanted<PinBoardKey>[] {
    return inOrder(keys, (key) => this.#boards.head(key))
  }

  *#raise(session: Session, head: Head): SyncOrAsync<void> {
    yield* this.#heads.save(session, { ...head, epoch: head.epoch + 1 })
  }
}

/** An aggregate to lock. */
interface Wanted<Key> {
  readonly key: Key
  readonly head: HeadKey
}

/** A locked aggregate. */
interface Locked<Key> {
  readonly key: Key
  readonly head: Head
}

function toHeadKey({ head }: Wanted<unknown>): HeadKey {
  return head
}

function locked<Key>(wanted: readonly Wanted<Key>[], heads: readonly Head[]): readonly Locked<Key>[] {
  return wanted.flatMap(({ key }, index) => {
    const head = heads[index]
    return head === undefined ? [] : [{ key, head }]
  })
}

/** Returns a board and, of those found, the boards of other repositories. */
function andThose(board: PinBoardKey, found: readonly PinBoardKey[]): readonly PinBoardKey[] {
  const { repositoryId, kind } = board
  return [{ repositoryId, kind }, ...found.filter((one) => one.repositoryId !== repositoryId)]
}

/** The global order of locks among heads of one kind. It keeps two retirements from waiting for each other. */
function inOrder<Key>(keys: readonly Key[], headOf: (key: Key) => HeadKey): readonly Wanted<Key>[] {
  return keys.map((key) => ({ key, head: headOf(key) })).sort((one, other) => compare(one.head, other.head))
}

function compare(one: HeadKey, other: HeadKey): number {
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
