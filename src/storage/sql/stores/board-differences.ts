import type { Id } from '../../../schema/ids.ts'
import type { PinRow } from '../../contract/stores.ts'
import type { Row } from '../fields.ts'

/** A pin as the statements return it. */
export type StoredPin = Pick<Row<'board_pins'>, 'issueId' | 'position' | 'pinnedAt' | 'pinnedBy'> & {
  /** 0 or 1: a pin is hidden while its issue does not exist for the forge. */
  readonly shown: number
}

/** Returns the board of stored pins, without those that are hidden. */
export function toBoard(rows: readonly StoredPin[]): readonly PinRow[] {
  return rows.filter(isShown).map(toPin)
}

/** Returns a stored pin as one of the board. */
export function toPin({ issueId, pinnedAt, pinnedBy }: StoredPin): PinRow {
  return { issueId, pinnedAt: new Date(pinnedAt), pinnedBy }
}

/** How the rows of a board become what they should be: the statements in this order. */
export interface Differences {
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
export function differences(
  stored: readonly StoredPin[],
  before: readonly PinRow[],
  after: readonly PinRow[],
): Differences {
  let same = 0
  while (isInPlace(stored[same], same) && samePin(before[same], after[same])) same += 1
  if (same === stored.length) return { gone: [], parked: [], moved: [], added: after.slice(same).map(toAdded(same)) }

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

/** Returns whether a stored pin is shown, and is where its index is. */
function isInPlace(row: StoredPin | undefined, index: number): boolean {
  return row !== undefined && isShown(row) && row.position === index + 1
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
