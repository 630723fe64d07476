import type { Decision, Id } from '../../../index.ts'
import { movePin, pinIssue, unpinIssue } from '../../../index.ts'
import type { BoardIssue, ForgeStorage, PinBoardKey, PinRow } from '../../../storage/storage.ts'
import type { AggregateSample, Draw, Extras, Names } from './sample.ts'
import { AUTHOR, about, altered, change, kind, NOON, replaced, sampleOf } from './sample.ts'

/** The board of issues that most cases use. */
export const BOARD: PinBoardKey = { repositoryId: '10', kind: 'issue' }

/**
 * Pins an issue at the end of a board, unless it is pinned already. Refuses a pin above the limit. Returns the 1-based
 * position.
 */
export async function pin<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueId: Id,
  { limit = Number.POSITIVE_INFINITY, ...extras }: Extras<Tx> & { readonly limit?: number } = {},
): Promise<number> {
  const rule = (issues: readonly Id[]) => pinIssue(issues, issueId, limit, board.kind)
  return (await arranged(storage, board, issueId, rule, extras)).position
}

/** Unpins an issue, if it is pinned. */
export async function unpin<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  await arranged(storage, board, issueId, (issues) => unpinIssue(issues, issueId), extras)
}

/** Moves an issue to the front of its board, if it is pinned. */
export async function moveToFront<Tx>(storage: ForgeStorage<Tx>, board: PinBoardKey, issueId: Id): Promise<void> {
  const rule = (issues: readonly Id[]) =>
    issues.includes(issueId) ? movePin(issues, issueId, 1) : { state: issues, events: [], result: undefined }
  await arranged<Tx, unknown>(storage, board, issueId, rule, {})
}

/** Returns the issues on a board, in order. */
export async function issuesOn<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  transaction?: Tx,
): Promise<readonly Id[]> {
  return (await storage.pinBoards.load(board, transaction)).map((row) => row.issueId)
}

/** Returns a row of a board. */
export function row(issueId: Id, pinnedAt: Date = NOON): PinRow {
  return { issueId, pinnedAt: new Date(pinnedAt), pinnedBy: null }
}

/** Replaces a board by these issues, without an event. */
export async function fillBoard<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueIds: readonly Id[],
  extras: Extras<Tx> = {},
): Promise<void> {
  const rows = issueIds.map((issueId) => row(issueId))
  await change(storage.pinBoards, board, () => replaced(rows), extras)
}

/** The boards. */
export const pinBoards: AggregateSample = sampleOf<PinBoardKey, readonly PinRow[]>({
  name: 'a pin board',
  store: (storage) => storage.pinBoards,
  key: BOARD,
  alter(rows) {
    const issueId = String(100 + rows.length)
    const event = { type: 'issue.pinned', data: { position: rows.length + 1 } } as const
    return altered([...rows, row(issueId)], event, { repositoryId: BOARD.repositoryId, issueId })
  },
  keys: boardsOf,
  reads: (storage, names, transaction) => [
    ...boardsOf(names).map((key) => [JSON.stringify(key), () => storage.pinBoards.load(key, transaction)] as const),
    ['positions', () => storage.pinBoards.positions(issuesOfBoards(names), transaction)],
  ],
  kinds: {
    pin: kind(
      22,
      (draw, names) => ({ ...placeOn(draw, names), limit: 3 + draw.below(3) }),
      (to, { board, issueId, limit }, extras) => pin(to, board, issueId, { ...extras, limit }),
    ),
    unpin: kind(5, placeOn, (to, { board, issueId }, extras) => unpin(to, board, issueId, extras)),
    move: kind(
      8,
      (draw, names) => ({ ...placeOn(draw, names), position: 1 + draw.below(4) }),
      (to, { board, issueId, position }, extras) =>
        arranged(to, board, issueId, (issues) => movePin(issues, issueId, position), extras),
    ),
    /** Gives every pin of a board another author and another time. */
    renew: kind(
      3,
      (draw, names) => ({
        ...placeOn(draw, names),
        pinnedAt: new Date(draw.below(60_000)),
        pinnedBy: draw.one(names.users),
      }),
      (to, { board, pinnedAt, pinnedBy }, extras) =>
        change(to.pinBoards, board, (rows) => replaced(rows.map((one) => ({ ...one, pinnedAt, pinnedBy }))), extras),
    ),
    reverse: kind(2, placeOn, (to, { board }, extras) =>
      change(to.pinBoards, board, (rows) => replaced(rows.toReversed()), extras),
    ),
  },
})

/** Draws a board, and an issue or a pull request for it. */
export function placeOn(draw: Draw, names: Names): { readonly board: PinBoardKey; readonly issueId: Id } {
  const repositoryId = draw.one(names.repositories)
  if (draw.below(4) > 0) return { board: { repositoryId, kind: 'issue' }, issueId: draw.one(names.issues) }
  return { board: { repositoryId, kind: 'pullRequest' }, issueId: draw.one(names.pullRequests) }
}

function boardsOf({ repositories }: Names): readonly PinBoardKey[] {
  return repositories.flatMap((repositoryId) => [
    { repositoryId, kind: 'issue' },
    { repositoryId, kind: 'pullRequest' },
  ])
}

/** Every issue beside every board, also those of the other kind. */
function issuesOfBoards(names: Names): readonly BoardIssue[] {
  const issueIds = [...names.issues, ...names.pullRequests]
  return boardsOf(names).flatMap((board) => issueIds.map((issueId) => ({ issueId, ...board })))
}

/** Changes the order of a board by a rule. New pins get the time and the author of the change. */
async function arranged<Tx, Result>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  issueId: Id,
  rule: (issues: readonly Id[]) => Decision<readonly Id[], Result>,
  extras: Extras<Tx>,
): Promise<Result> {
  const { actorId: pinnedBy } = extras.by ?? AUTHOR
  const outcome = await change(
    storage.pinBoards,
    board,
    (rows, at) => {
      const issues = rows.map((one) => one.issueId)
      const { state, ...decided } = rule(issues)
      const rowOf = (id: Id) => rows.find((one) => one.issueId === id) ?? { issueId: id, pinnedAt: at, pinnedBy }
      const { repositoryId } = board
      return about({ repositoryId, issueId }, { state: state === issues ? rows : state.map(rowOf), ...decided })
    },
    extras,
  )
  return outcome.result
}
