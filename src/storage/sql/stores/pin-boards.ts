import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { BoardIssue, PinBoardKey, PinBoardStore, PinRow } from '../../contract/stores.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { HeadScope } from '../schema/tables.ts'
import { queryEach } from '../session.ts'
import type { SqlAggregate, StoreParts, Writing } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { HeadKey } from './locks.ts'
import type { Removals } from './retirement.ts'

const SCOPES = { issue: 'issueBoard', pullRequest: 'pullRequestBoard' } as const satisfies Record<PinKind, HeadScope>

/** Returns the key of the board that a head locks. */
function boardOf({ scope, key: repositoryId }: HeadKey): PinBoardKey {
  return { repositoryId, kind: scope === SCOPES.pullRequest ? 'pullRequest' : 'issue' }
}

/** A pin as the statements return it. */
type StoredPin = Pick<Row<'board_pins'>, 'issueId' | 'pinnedAt' | 'pinnedBy'>

/**
 * Creates the pin boards of an SQL storage: one head per repository and kind. An issue has a head too, which keeps it from
 * being deleted or pinned elsewhere meanwhile.
 */
export function sqlPinBoards<Tx>(
  parts: StoreParts<Tx>,
): { store: PinBoardStore<Tx> } & Removals<'repository' | 'issue'> {
  const { context, runtime, heads } = parts
  const { build, ids } = context
  const pins = fieldsOf(context, 'board_pins')

  const load = defineQuery((given: QueryValues<PinBoardKey>) =>
    build
      .selectFrom('board_pins')
      .select(pins.read('issueId', 'pinnedAt', 'pinnedBy'))
      .where(pins.are(given, 'repositoryId', 'kind'))
      .orderBy('position'),
  )

  const find = defineQuery((given: QueryValues<{ issueIds: readonly Id[] }>) =>
    build
      .selectFrom('board_pins')
      .select(pins.read('repositoryId', 'kind', 'issueId', 'position'))
      .where('issue_id', 'in', ids.givenList('issue', given('issueIds'))),
  )

  const insert = defineQuery((given: QueryValues<PinBoardKey & PinRow & { position: number }>) =>
    build
      .insertInto('board_pins')
      .values(pins.written(given, 'repositoryId', 'kind', 'position', 'issueId', 'pinnedAt', 'pinnedBy')),
  )

  const removeRange = defineQuery((given: QueryValues<PinBoardKey & { first: number; last: number }>) =>
    build
      .deleteFrom('board_pins')
      .where(pins.are(given, 'repositoryId', 'kind'))
      .where('position', '>=', given('first'))
      .where('position', '<=', given('last')),
  )

  const removeBoards = defineQuery((given: QueryValues<{ repositoryId: Id }>) =>
    build.deleteFrom('board_pins').where(pins.are(given, 'repositoryId')),
  )

  const boardsWith = defineQuery((given: QueryValues<{ issueId: Id }>) =>
    build.selectFrom('board_pins').select(pins.read('repositoryId', 'kind')).where(pins.are(given, 'issueId')),
  )

  const headOf = ({ repositoryId, kind }: PinBoardKey) => heads.of(SCOPES[kind], repositoryId)

  const boards: SqlAggregate<PinBoardKey, readonly PinRow[], [StoredPin]> = {
    own: ({ repositoryId, kind }) => ({ repositoryId, kind }),
    locks: (key) => [headOf(key)],
    loading: (key) => [load(key)],
    state: (_key, [rows]) => rows.map(toPin),

    /** Replaces the rows from the first to the last place that differs. Issues follow the boards in the order of locks. */
    writing(key, { before, after, head }): Writing {
      const known = new Set(before.map((row) => row.issueId))
      const issueIds = after.map((row) => row.issueId).filter((issueId) => !known.has(issueId))
      const issues = issueIds.toSorted().map((issueId) => heads.of('issue', issueId))

      const { first, last } = changedRange(before, after)
      const end = Math.min(last, before.length)
      const removal = first <= end ? [removeRange({ first, last: end, ...key })] : []
      const inserts = after
        .slice(first - 1, last)
        .map((row, index) => insert({ position: first + index, ...key, ...row }))
      return {
        statements: [...heads.locking(issues), ...removal, ...inserts],
        head: { ...head, total: after.length },
        verify: (rows) => heads.refuseRetiredAmong(issues, rows),
      }
    },
  }

  const store: PinBoardStore<Tx> = {
    ...aggregateStore(parts, boards),
    load: (key, transaction) =>
      runtime.read(
        (session) => after(heads.unlessRetired(session, headOf(key), load(key)), (rows) => rows.map(toPin)),
        transaction,
      ),

    // An issue that has moved to another repository may be on a board that is not asked for.
    positions: (issues, transaction) =>
      runtime.read((session) => {
        for (const { repositoryId } of issues) ids.fitting('repository', repositoryId)
        const places = issues.map(placeOf)
        return after(session.all(find({ issueIds: issues.map(({ issueId }) => issueId) })), (rows) => {
          const positions = new Map(rows.map((row) => [placeOf(row), row.position]))
          return places.map((place) => positions.get(place))
        })
      }, transaction),
  }

  return {
    store,

    *repository(session, { repositoryId }) {
      const scopes = ['issueBoard', 'pullRequestBoard', 'issueImports'] as const
      const keys = scopes.map((scope) => heads.of(scope, repositoryId))
      const { heads: locked } = yield* heads.lock(session, keys, [])
      if (locked.every(({ retired }) => retired)) return undefined

      const pins = locked.reduce((sum, { total }) => sum + total, 0)
      return { removed: { pins }, statements: [removeBoards({ repositoryId })], retired: locked }
    },

    /**
     * Locks every board that has the issue, and then the issue. Since it was pinned, it may have moved to another
     * repository, or become a pull request. A change that was pinning it elsewhere has ended once the issue is locked. The
     * boards move up.
     */
    *issue(session, { issueId, repositoryId, kind }) {
      const { found, last } = yield* heads.lockFound(session, boardsWith({ issueId }), {
        headOf,
        known: [headOf({ repositoryId, kind })],
        last: [heads.of('issue', issueId)],
      })
      if (last.every(({ retired }) => retired)) return undefined

      const loaded = yield* queryEach<readonly StoredPin[]>(
        session,
        found.map((head) => load(boardOf(head))),
      )
      const written = found.map((head, index) => {
        const before = (loaded[index] ?? []).map(toPin)
        return boards.writing(boardOf(head), { before, after: before.filter((row) => row.issueId !== issueId), head })
      })
      const pins = found.reduce((sum, { total }, index) => sum + total - (written[index]?.head.total ?? 0), 0)
      return {
        removed: { pins },
        statements: written.flatMap(({ statements }) => statements),
        heads: written.map(({ head }) => head),
        retired: last,
      }
    },
  }
}

function placeOf({ kind, repositoryId, issueId }: BoardIssue): string {
  return `${kind} ${repositoryId} ${issueId}`
}

function toPin({ issueId, pinnedAt, pinnedBy }: StoredPin): PinRow {
  return { issueId, pinnedAt: new Date(pinnedAt), pinnedBy }
}

/** Returns the 1-based first and last place that differ. Everything after the end of the shorter board differs. */
function changedRange(before: readonly PinRow[], after: readonly PinRow[]): { first: number; last: number } {
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
