import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'
import type { BoardIssue, PinBoardKey, PinBoardStore, PinRow } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { Referred } from '../host/references.ts'
import { ALWAYS, columnsOfPin, insertReferring, isOnBoard, livesIn } from '../host/references.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import { positionOf } from '../schema/ddl.ts'
import type { HeadScope } from '../schema/tables.ts'
import { queryEach } from '../session.ts'
import type { SqlAggregate, StoreParts, Writing } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { HeadKey } from './heads.ts'
import type { Removals } from './retirement.ts'

const SCOPES = { issue: 'issueBoard', pullRequest: 'pullRequestBoard' } as const satisfies Record<PinKind, HeadScope>

/** Returns the key of the board that a head locks. */
function boardOf({ scope, key: repositoryId }: HeadKey): PinBoardKey {
  return { repositoryId, kind: scope === SCOPES.pullRequest ? 'pullRequest' : 'issue' }
}

/** A pin as the statements return it. */
type StoredPin = Pick<Row<'board_pins'>, 'issueId' | 'position' | 'pinnedAt' | 'pinnedBy'> & {
  /** 0 or 1: a pin is hidden while its issue does not exist for the forge. */
  readonly shown: number
}

/**
 * Creates the pin boards of an SQL storage: one head per repository and kind. An issue has a head too, which keeps it from
 * being deleted or pinned elsewhere meanwhile.
 */
export function sqlPinBoards<Tx>(
  parts: StoreParts<Tx>,
): { store: PinBoardStore<Tx> } & Removals<'repository' | 'issue'> {
  const { context, runtime, heads, references } = parts
  const { build, ids, columns, dialect } = context
  const pins = fieldsOf(context, 'board_pins')

  const isAlive = (alias: string) => isOnBoard(context, columnsOfPin(context, alias))
  const isBoardAlive = livesIn(context, 'repository', 'board_pins')

  const load = defineQuery((given: QueryValues<PinBoardKey>) =>
    build
      .selectFrom('board_pins')
      .select(pins.read('issueId', 'position', 'pinnedAt', 'pinnedBy'))
      .select(
        dialect
          .number(references.has('issue') ? sql`case when ${isAlive('board_pins')} then 1 else 0 end` : sql`1`)
          .as('shown'),
      )
      .where(pins.are(given, 'repositoryId', 'kind'))
      .where(isBoardAlive ?? ALWAYS)
      .orderBy('board_pins.position'),
  )

  const find = defineQuery((given: QueryValues<{ issueIds: readonly Id[] }>) =>
    build
      .selectFrom('board_pins')
      .select(pins.read('repositoryId', 'kind', 'issueId'))
      .select(dialect.number(positionOf(isAlive)).as('position'))
      .where('issue_id', 'in', ids.givenList('issue', given('issueIds')))
      .where(isAlive('board_pins'))
      .where(isBoardAlive ?? ALWAYS),
  )

  const insert = defineQuery((given: QueryValues<PinBoardKey & PinRow & { position: number }>) =>
    insertReferring(
      context,
      'board_pins',
      pins.written(given, 'repositoryId', 'kind', 'position', 'issueId', 'pinnedAt', 'pinnedBy'),
    ),
  )

  const remove = defineQuery((given: QueryValues<BoardIssue>) =>
    build.deleteFrom('board_pins').where(pins.are(given, 'repositoryId', 'kind', 'issueId')),
  )

  const move = defineQuery((given: QueryValues<BoardIssue & { position: number }>) =>
    build
      .updateTable('board_pins')
      .set(pins.written(given, 'position'))
      .where(pins.are(given, 'repositoryId', 'kind', 'issueId')),
  )

  // No two pins of a board have one position, at any time.
  const park = defineQuery((given: QueryValues<PinBoardKey & { first: number; last: number }>) =>
    build
      .updateTable('board_pins')
      .set({ position: sql<number>`-position` })
      .where(pins.are(given, 'repositoryId', 'kind'))
      .where('position', '>=', given('first'))
      .where('position', '<=', given('last')),
  )

  const removeBoards = defineQuery((given: QueryValues<{ repositoryId: Id }>) =>
    build.deleteFrom('board_pins').where(pins.are(given, 'repositoryId')),
  )

  const count = defineQuery((given: QueryValues<{ repositoryId: Id }>) =>
    build.selectFrom('board_pins').select(columns.count().as('pins')).where(pins.are(given, 'repositoryId')),
  )

  const boardsWith = defineQuery((given: QueryValues<{ issueId: Id }>) =>
    build.selectFrom('board_pins').select(pins.read('repositoryId', 'kind')).where(pins.are(given, 'issueId')),
  )

  const headOf = ({ repositoryId, kind }: PinBoardKey) => heads.of(SCOPES[kind], repositoryId)

  const boards: SqlAggregate<PinBoardKey, readonly PinRow[], [StoredPin]> = {
    own: ({ repositoryId, kind }) => ({ repositoryId, kind }),
    locks: (key) => [headOf(key)],
    refers: (key) => [repositoryOf(key)],
    shows: ([pins]) => pins.length > 0,
    loading: (key) => [load(key)],
    state: (_key, [rows]) => toBoard(rows),

    writing(key, { before, after, head, rows: [stored] }): Writing {
      const { gone, parked, moved, added } = differences(stored, before, after)
      const issues = references.has('issue') ? [] : added.map(({ row }) => row.issueId).toSorted()
      const locked = issues.map((issueId) => heads.of('issue', issueId))
      return {
        statements: [
          ...locked.map(heads.locking),
          ...gone.map((issueId) => remove({ issueId, ...key })),
          ...parked.map(({ first, last }) => park({ first, last, ...key })),
          ...moved.map(({ issueId, position }) => move({ issueId, position, ...key })),
          ...added.map(({ position, row }) => insert({ position, ...key, ...row })),
        ],
        head: { ...head, total: stored.length - gone.length + added.length },
        refers:
          added.length === 0
            ? undefined
            : () => [repositoryOf(key), ...added.map(({ row }) => issueOf(key, row.issueId))],
        verify: (rows) => heads.refuseRetiredAmong(locked, rows),
        writesTwice: parked.length > 0,
      }
    },
  }

  const store: PinBoardStore<Tx> = {
    ...aggregateStore(parts, boards),
    load: (key, transaction) =>
      runtime.read((session) => after(heads.unlessRetired(session, headOf(key), load(key)), toBoard), transaction),

    // An issue that has moved to another repository may be on a board that is not asked for.
    positions: (issues, transaction) =>
      runtime.read((session) => {
        for (const { repositoryId } of issues) ids.fitting('repository', repositoryId)
        const keys = issues.map(boardKeyOf)
        return after(session.all(find({ issueIds: issues.map(({ issueId }) => issueId) })), (rows) => {
          const positions = new Map(rows.map((row) => [boardKeyOf(row), row.position]))
          return keys.map((key) => positions.get(key))
        })
      }, transaction),
  }

  return {
    store,

    *repository(session, { repositoryId }) {
      const scopes = ['issueBoard', 'pullRequestBoard', 'issueImports'] as const
      const keys = scopes.map((scope) => heads.of(scope, repositoryId))
      // The heads do not count what the database removes with an issue.
      const { heads: locked, rows } = yield* heads.lock(session, keys, [count({ repositoryId })])
      if (locked.every(({ retired }) => retired)) return undefined

      return { removed: { pins: rows[0][0]?.pins ?? 0 }, statements: [removeBoards({ repositoryId })], retired: locked }
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
        const stored = loaded[index] ?? []
        const before = stored.map(toPin)
        const after = before.filter((row) => row.issueId !== issueId)
        return boards.writing(boardOf(head), { before, after, head, rows: [stored] })
      })
      const pins = loaded.reduce((sum, rows, index) => sum + rows.length - (written[index]?.head.total ?? 0), 0)
      return {
        removed: { pins },
        statements: written.flatMap(({ statements }) => statements),
        heads: written.map(({ head }) => head),
        retired: last,
      }
    },
  }
}

function boardKeyOf({ kind, repositoryId, issueId }: BoardIssue): string {
  return `${kind} ${repositoryId} ${issueId}`
}

function repositoryOf({ repositoryId }: PinBoardKey): Referred {
  return { thing: 'repository', id: repositoryId }
}

function issueOf({ repositoryId, kind }: PinBoardKey, id: Id): Referred {
  return { thing: 'issue', kind, id, repositoryId }
}

function toBoard(rows: readonly StoredPin[]): readonly PinRow[] {
  return rows.filter(isShown).map(toPin)
}

function toPin({ issueId, pinnedAt, pinnedBy }: StoredPin): PinRow {
  return { issueId, pinnedAt: new Date(pinnedAt), pinnedBy }
}

/** How the rows of a board become what they should be: the statements in this order. */
interface Differences {
  readonly gone: readonly Id[]
  /** The range of positions that pins leave before any of them is taken; none if each pin moves to a free one. */
  readonly parked: readonly { readonly first: number; readonly last: number }[]
  /** In the order of the new positions. */
  readonly moved: readonly { readonly issueId: Id; readonly position: number }[]
  readonly added: readonly { readonly row: PinRow; readonly position: number }[]
}

/**
 * Returns how a board changes. Positions are 1 to n. The database leaves gaps where it removes the pins of issues that the
 * host deletes, and every change closes them. Pins that are hidden keep their order among the others.
 */
function differences(stored: readonly StoredPin[], before: readonly PinRow[], after: readonly PinRow[]): Differences {
  const isSame = (row: StoredPin, at: number) =>
    isShown(row) && row.position === at + 1 && samePin(before[at], after[at])
  const behind = after.slice(stored.length).map(toAdded(stored.length))
  if (stored.every(isSame)) return { gone: [], parked: [], moved: [], added: behind }

  const next = new Map(after.map((row) => [row.issueId, row]))
  const shown = new Map(before.map((row) => [row.issueId, row]))
  // A hidden pin that a decision adds is one of an issue that does not exist, or has just been shown again.
  const stays = ({ issueId }: StoredPin): boolean =>
    shown.has(issueId) ? samePin(shown.get(issueId), next.get(issueId)) : !next.has(issueId)
  const gone = stored.filter((row) => !stays(row)).map(({ issueId }) => issueId)
  const kept = new Map(stored.filter(stays).map(({ issueId, position }) => [issueId, position]))
  const whole = withHidden(stored, after, next)
  const added = whole.map(toAdded(0)).filter(({ row }) => !kept.has(row.issueId))
  const placed = whole.flatMap(({ issueId }, at) => {
    const was = kept.get(issueId)
    return was === undefined ? [] : [{ issueId, position: at + 1, was }]
  })

  const moved = placed.filter(({ position, was }) => position !== was)
  if (moved.every(({ position, was }) => position < was)) return { gone, parked: [], moved, added }

  const freed = moved.map(({ was }) => was)
  const [first, last] = [Math.min(...freed), Math.max(...freed)]
  return { gone, parked: [{ first, last }], moved: placed.filter(({ was }) => was >= first && was <= last), added }
}

function toAdded(before: number): (row: PinRow, index: number) => Differences['added'][number] {
  return (row, index) => ({ row, position: before + index + 1 })
}

/** Adds the hidden pins to a board, each behind the pin that it was behind. */
function withHidden(
  stored: readonly StoredPin[],
  board: readonly PinRow[],
  next: ReadonlyMap<Id, PinRow>,
): readonly PinRow[] {
  if (stored.every(isShown)) return board
  const whole = [...board]
  let at = 0
  for (const row of stored) {
    if (isShown(row)) at = Math.max(at, whole.findIndex(({ issueId }) => issueId === row.issueId) + 1)
    else if (!next.has(row.issueId)) whole.splice(at++, 0, toPin(row))
  }
  return whole
}

function isShown({ shown }: StoredPin): boolean {
  return shown !== 0
}

function samePin(one: PinRow | undefined, other: PinRow | undefined): boolean {
  if (one === undefined || other === undefined) return false
  if (one.issueId !== other.issueId || one.pinnedBy !== other.pinnedBy) return false
  return one.pinnedAt.getTime() === other.pinnedAt.getTime()
}
