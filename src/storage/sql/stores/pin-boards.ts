import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { PinBoardKey, PinBoardStore, PinRow } from '../../contract/stores.ts'
import { toMilliseconds } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { defer, query } from '../session.ts'
import type { HeadScope } from '../tables.ts'
import type { Difference, SqlAggregate, StoreParts } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { Head, HeadKey, Heads, Lock } from './locks.ts'
import { refuseRetired } from './locks.ts'

/** Creates the pin boards of an SQL storage. */
export function sqlPinBoards<Tx>(parts: StoreParts<Tx>): PinBoardStore<Tx> {
  const { context, runtime, heads } = parts
  const boards = new PinBoards(context, heads)

  return {
    ...aggregateStore(parts, boards),
    load: (key, transaction) => runtime.read((session) => boards.loadAlive(session, key), transaction),
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
  *loadAlive(session: Session, key: PinBoardKey): SyncOrAsync<readonly PinRow[]> {
    const board = toBoard(yield* query(session, this.#queries.load(key)))
    if (board.length === 0) refuseRetired(yield* this.#heads.find(session, this.head(key)), 'repository')
    return board
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
      yield* defer(session, this.#queries.removeRange({ ...key, first, last: Math.min(last, before.length) }))
    }
    for (const [index, row] of after.slice(first - 1, last).entries()) {
      yield* defer(session, this.#queries.insert({ ...key, ...row, position: first + index }))
    }
    return { ...head, total: after.length }
  }

  /**
   * Prevents the issues from being deleted or pinned elsewhere meanwhile. Issues follow the boards in the global order
   * of locks.
   */
  *#lockIssues(session: Session, issueIds: readonly Id[]): SyncOrAsync<void> {
    for (const issueId of issueIds.toSorted()) yield* this.#heads.lockSoon(session, this.issueHead(issueId))
  }

  /** Returns the key of the head that keeps an issue from being deleted or pinned elsewhere. */
  issueHead(issueId: Id): HeadKey {
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
  readonly insert: Query<PlacedPin, unknown>
  readonly removeRange: Query<PinBoardKey & { readonly first: number; readonly last: number }, unknown>
  readonly tombstones: Query<{ readonly issueIds: readonly Id[] }, { readonly issueId: Id }>
}

/** Defines the statements of the pin boards. */
export function pinBoardQueries(context: SqlContext): PinBoardQueries {
  return {
    load: loadQuery(context),
    insert: insertQuery(context),
    removeRange: removeRangeQuery(context),
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

function tombstonesQuery({ build, ids, columns }: SqlContext): PinBoardQueries['tombstones'] {
  return defineQuery((given) =>
    build
      .selectFrom('issue_tombstones')
      .select(columns.id('issue_id').as('issueId'))
      .where('issue_id', 'in', ids.givenList('issue', given('issueIds'))),
  )
}
