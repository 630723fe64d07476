import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { BoardIssue, PinBoardKey, PinBoardStore, PinRow } from '../../contract/stores.ts'
import { toMilliseconds } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { HeadScope } from '../schema/tables.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { defer } from '../session.ts'
import type { Difference, SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { Head, HeadKey, Heads, Lock } from './locks.ts'
import { refuseRetired } from './locks.ts'
import type { LockedBoard, Removal, Removals, SqlStore } from './removals.ts'
import { keepAll } from './removals.ts'

/** Creates the pin boards of an SQL storage. */
export function sqlPinBoards<Tx>(parts: StoreParts<Tx>): SqlStore<PinBoardStore<Tx>> {
  const { context, runtime, heads } = parts
  const boards = new PinBoards(context, heads)

  const store: PinBoardStore<Tx> = {
    ...aggregateStore(parts, boards),
    load: (key, transaction) => runtime.read((session) => boards.loadAlive(session, key), transaction),
    positions: (issues, transaction) => runtime.read((session) => boards.positions(session, issues), transaction),
  }
  return { store, removals: removalsOf(boards) }
}

/** A retired repository takes its pins with it, and a retired issue the pins of it. */
function removalsOf(boards: PinBoards): Removals {
  return {
    user: keepAll,
    organization: keepAll,
    repository: (session, { repositoryId }, heads) => boards.removeBoards(session, repositoryId, heads),
    issue: (session, { issueId }, locked) => boards.removeIssue(session, issueId, locked),
  }
}

const SCOPES: { readonly [K in PinKind]: HeadScope } = { issue: 'issueBoard', pullRequest: 'pullRequestBoard' }

/** The pin boards as aggregates: one head per repository and kind. */
export class PinBoards implements SqlAggregate<PinBoardKey, readonly PinRow[], [StoredPin]> {
  readonly #context: SqlContext
  readonly #heads: Heads
  readonly #queries: PinBoardQueries

  constructor(context: SqlContext, heads: Heads) {
    this.#context = context
    this.#heads = heads
    this.#queries = pinBoardQueries(context)
  }

  own({ repositoryId, kind }: PinBoardKey): PinBoardKey {
    return { repositoryId, kind }
  }

  head({ repositoryId, kind }: PinBoardKey): HeadKey {
    return { scope: SCOPES[kind], key: this.#context.ids.fitting('repository', repositoryId) }
  }

  locks(key: PinBoardKey): readonly Lock[] {
    return [{ head: this.head(key), thing: 'repository' }]
  }

  loading(key: PinBoardKey): Statements<[StoredPin]> {
    return [this.#queries.load(key)]
  }

  state(_key: PinBoardKey, [rows]: RowsOfEach<[StoredPin]>): readonly PinRow[] {
    return toBoard(rows)
  }

  /** Loads the board for a reader. A retired board is empty, so only an empty board is checked for retirement. */
  loadAlive(session: Session, key: PinBoardKey): MaybePromise<readonly PinRow[]> {
    return after(session.all(this.#queries.load(key)), (rows) =>
      rows.length > 0 ? toBoard(rows) : after(this.#heads.find(session, this.head(key)), emptyBoard),
    )
  }

  /** Reads where issues are. One that has moved to another repository may be on a board that is not asked for. */
  positions(session: Session, issues: readonly BoardIssue[]): MaybePromise<readonly (number | undefined)[]> {
    const placeOf = ({ kind, repositoryId, issueId }: BoardIssue): string => `${kind} ${repositoryId} ${issueId}`
    for (const { repositoryId } of issues) this.#context.ids.fitting('repository', repositoryId)
    const [issueIds, places] = [issues.map(({ issueId }) => issueId), issues.map(placeOf)]
    return after(session.all(this.#queries.positions({ issueIds })), (rows) => {
      const positions = new Map(rows.map((row) => [placeOf(row), row.position]))
      return places.map((place) => positions.get(place))
    })
  }

  /** Replaces the rows from the first to the last place that differs. */
  *write(
    session: Session,
    key: PinBoardKey,
    { before, after, head }: Difference<readonly PinRow[]>,
  ): SyncOrAsync<Head> {
    yield* this.#refuseTombstones(session, before, after)
    const { first, last } = changedRange(before, after)
    if (first <= Math.min(last, before.length)) {
      yield* defer(session, this.#queries.removeRange({ first, last: Math.min(last, before.length), ...key }))
    }
    for (const [index, row] of after.slice(first - 1, last).entries()) {
      yield* defer(session, this.#queries.insert({ position: first + index, ...key, ...row }))
    }
    return { ...head, total: after.length }
  }

  /**
   * Prevents the issues from being deleted or pinned elsewhere meanwhile. Issues follow the boards in the global order
   * of locks.
   */
  *#lockIssues(session: Session, issueIds: readonly Id[]): SyncOrAsync<void> {
    for (const issueId of issueIds.toSorted()) yield* this.#heads.lockSoon(session, this.#issueHead(issueId))
  }

  /**
   * Locks and loads every board of its kind that has the issue, and then locks the issue. It may have moved to another
   * repository since it was pinned. A change that was pinning it elsewhere has ended once the issue is locked.
   */
  *lockIssue(session: Session, board: PinBoardKey, issueId: Id): SyncOrAsync<readonly LockedBoard[]> {
    const { repositoryId, kind } = board
    const locked = yield* this.#heads.lockFound(session, this.#queries.boardsWith({ issueId, kind }), {
      headOf: (key) => this.head(key),
      load: this.#queries.load,
      known: [{ repositoryId, kind }],
      last: [this.#issueHead(issueId)],
    })
    return locked.map(({ key, head, rows }) => ({ key, head, rows: toBoard(rows) }))
  }

  /** Removes the pins of an issue. The boards move up. */
  *removeIssue(session: Session, issueId: Id, boards: readonly LockedBoard[]): SyncOrAsync<Removal> {
    const heads: Head[] = []
    let pins = 0
    for (const { key, head, rows: before } of boards) {
      const after = before.filter((row) => row.issueId !== issueId)
      heads.push(yield* this.write(session, key, { before, after, head }))
      pins += before.length - after.length
    }
    return { removed: { pins }, heads }
  }

  /** Removes all pins of a repository. The heads count them. */
  *removeBoards(session: Session, repositoryId: Id, heads: readonly Head[]): SyncOrAsync<Removal> {
    yield* defer(session, this.#queries.removeBoards({ repositoryId }))
    return { removed: { pins: heads.reduce((sum, head) => sum + head.total, 0) } }
  }

  /** Returns the key of the head that keeps an issue from being deleted or pinned elsewhere. */
  #issueHead(issueId: Id): HeadKey {
    return { scope: 'issue', key: this.#context.ids.fitting('issue', issueId) }
  }

  /** The pins are written together with this query, and rolled back if it finds a tombstone. */
  *#refuseTombstones(session: Session, before: readonly PinRow[], after: readonly PinRow[]): SyncOrAsync<void> {
    const known = new Set(before.map((row) => row.issueId))
    const issueIds: readonly Id[] = after.map((row) => row.issueId).filter((issueId) => !known.has(issueId))
    if (issueIds.length === 0) return

    yield* this.#lockIssues(session, issueIds)
    yield* defer(session, this.#queries.tombstones({ issueIds }), (gone) => {
      if (gone.length > 0) throw notFound('issue')
    })
  }
}

function emptyBoard(head: Head): readonly PinRow[] {
  refuseRetired(head, 'repository')
  return []
}

function toBoard(rows: readonly StoredPin[]): readonly PinRow[] {
  return rows.map((row) => ({ ...row, pinnedAt: new Date(row.pinnedAt) }))
}

/** Returns the 1-based first and last place that differ. Everything after the end of the shorter board differs. */
function changedRange(
  before: readonly PinRow[],
  after: readonly PinRow[],
): { readonly first: number; readonly last: number } {
  const longest = Math.max(before.length, after.length)
  let first = 1
  while (first <= longest && samePin(before[first - 1], after[first - 1])) first += 1
  let last = longest
  while (last > first && samePin(before[last - 1], after[last - 1])) last -= 1
  return { first, last }
}

function samePin(one: PinRow | undefined, other: PinRow | undefined): boolean {
  if (one === undefined || other === undefined) return false
  if (one.issueId !== other.issueId || one.pinnedBy !== other.pinnedBy) return false
  return one.pinnedAt.getTime() === other.pinnedAt.getTime()
}

/** A pin as the statements return it. */
export interface StoredPin {
  readonly issueId: Id
  readonly pinnedAt: number
  readonly pinnedBy: Id | null
}

/** Where an issue is pinned. */
export interface FoundPin extends BoardIssue {
  readonly position: number
}

/** A pin as the statements write it. */
export interface PlacedPin extends PinBoardKey {
  readonly position: number
  readonly issueId: Id
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/** The statements of the pin boards. */
export interface PinBoardQueries {
  readonly load: Query<PinBoardKey, StoredPin>
  readonly positions: Query<{ readonly issueIds: readonly Id[] }, FoundPin>
  readonly insert: Query<PlacedPin, unknown>
  readonly removeRange: Query<PinBoardKey & { readonly first: number; readonly last: number }, unknown>
  readonly removeBoards: Query<{ readonly repositoryId: Id }, unknown>
  readonly boardsWith: Query<{ readonly issueId: Id; readonly kind: PinKind }, PinBoardKey>
  readonly tombstones: Query<{ readonly issueIds: readonly Id[] }, { readonly issueId: Id }>
}

/** Defines the statements of the pin boards. */
function pinBoardQueries(context: SqlContext): PinBoardQueries {
  return {
    load: loadQuery(context),
    positions: positionsQuery(context),
    insert: insertQuery(context),
    removeRange: removeRangeQuery(context),
    removeBoards: removeBoardsQuery(context),
    boardsWith: boardsWithQuery(context),
    tombstones: tombstonesQuery(context),
  }
}

function loadQuery({ build, ids, columns }: SqlContext): PinBoardQueries['load'] {
  return defineQuery((given) =>
    build
      .selectFrom('board_pins')
      .select([
        columns.id('issue_id').as('issueId'),
        columns.number('pinned_at').as('pinnedAt'),
        columns.idOrNull('pinned_by').as('pinnedBy'),
      ])
      .where('repository_id', '=', ids.given('repository', given('repositoryId')))
      .where('kind', '=', given('kind'))
      .orderBy('position'),
  )
}

function positionsQuery({ build, ids, columns }: SqlContext): PinBoardQueries['positions'] {
  return defineQuery((given) =>
    build
      .selectFrom('board_pins')
      .select([columns.id('repository_id').as('repositoryId'), 'kind', columns.id('issue_id').as('issueId')])
      .select(columns.number('position').as('position'))
      .where('issue_id', 'in', ids.givenList('issue', given('issueIds'))),
  )
}

function insertQuery({ build, ids }: SqlContext): PinBoardQueries['insert'] {
  return defineQuery((given) =>
    build.insertInto('board_pins').values({
      repository_id: ids.given('repository', given('repositoryId')),
      kind: given('kind'),
      position: given('position'),
      issue_id: ids.given('issue', given('issueId')),
      pinned_at: given('pinnedAt').as(toMilliseconds),
      pinned_by: ids.given('user', given('pinnedBy')),
    }),
  )
}

function removeRangeQuery({ build, ids }: SqlContext): PinBoardQueries['removeRange'] {
  return defineQuery((given) =>
    build
      .deleteFrom('board_pins')
      .where('repository_id', '=', ids.given('repository', given('repositoryId')))
      .where('kind', '=', given('kind'))
      .where('position', '>=', given('first'))
      .where('position', '<=', given('last')),
  )
}

function removeBoardsQuery({ build, ids }: SqlContext): PinBoardQueries['removeBoards'] {
  return defineQuery((given) =>
    build.deleteFrom('board_pins').where('repository_id', '=', ids.given('repository', given('repositoryId'))),
  )
}

function boardsWithQuery({ build, ids, columns }: SqlContext): PinBoardQueries['boardsWith'] {
  return defineQuery((given) =>
    build
      .selectFrom('board_pins')
      .select([columns.id('repository_id').as('repositoryId'), 'kind'])
      .where('issue_id', '=', ids.given('issue', given('issueId')))
      .where('kind', '=', given('kind')),
  )
}

function tombstonesQuery({ build, ids, columns }: SqlContext): PinBoardQueries['tombstones'] {
  return defineQuery((given) =>
    build
      .selectFrom('issue_tombstones')
      .select(columns.id('issue_id').as('issueId'))
      .where('issue_id', 'in', ids.givenList('issue', given('issueIds'))),
  )
}
