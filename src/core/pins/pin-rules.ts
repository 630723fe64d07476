import { ForgeError, invalidInput } from '../../schema/errors.ts'
import type { Decision, PinKind } from '../../schema/records.ts'

/** A 1-based position on a pin board. */
export interface BoardPosition {
  readonly position: number
}

/** The maximum number of pins on a board, for each kind, if the host sets none. */
export const DEFAULT_MAX_PINS = 3

const NAMES: Readonly<Record<PinKind, string>> = { issue: 'issues', pullRequest: 'pull requests' }

/**
 * Pins an issue at the end of a board. Pinning a pinned issue changes nothing, even on a full board.
 *
 * @param limit - the maximum number of pins on the board; 0 disables pinning
 * @param kind - the kind of the board, for the error
 * @throws ForgeError `PIN_LIMIT_REACHED`. Source: docs/behaviour.md, Pins
 */
export function pinIssue<I>(
  board: readonly I[],
  issue: NoInfer<I>,
  limit: number,
  kind: PinKind = 'issue',
): Decision<readonly I[], BoardPosition> {
  const at = board.indexOf(issue)
  if (at >= 0) return { state: board, events: [], result: { position: at + 1 } }
  if (!(board.length < limit)) {
    throw new ForgeError('PIN_LIMIT_REACHED', `the limit of pinned ${NAMES[kind]} is ${limit}`, { kind, limit })
  }

  const position = board.length + 1
  return { state: [...board, issue], events: [{ type: 'issue.pinned', data: { position } }], result: { position } }
}

/**
 * Removes an issue from a board and closes the gap. Unpinning an issue that is not pinned changes nothing.
 * Source: docs/behaviour.md, Pins
 */
export function unpinIssue<I>(board: readonly I[], issue: NoInfer<I>): Decision<readonly I[], void> {
  const at = board.indexOf(issue)
  if (at < 0) return { state: board, events: [], result: undefined }

  return {
    state: board.toSpliced(at, 1),
    events: [{ type: 'issue.unpinned', data: { position: at + 1 } }],
    result: undefined,
  }
}

/**
 * Moves a pinned issue to a 1-based position. A position beyond the end moves it to the end. Moving it to its current
 * position changes nothing. Source: docs/behaviour.md, Pins
 *
 * @throws ForgeError `INVALID_INPUT` when the position is not an integer from 1 up, then `ISSUE_NOT_PINNED`
 */
export function movePin<I>(
  board: readonly I[],
  issue: NoInfer<I>,
  position: number,
): Decision<readonly I[], BoardPosition> {
  if (!Number.isInteger(position) || position < 1) {
    throw invalidInput('/position', 'range', 'position must be an integer, 1 or greater')
  }
  const at = board.indexOf(issue)
  if (at < 0) throw new ForgeError('ISSUE_NOT_PINNED', 'issue is not pinned')

  const from = at + 1
  const to = Math.min(position, board.length)
  if (from === to) return { state: board, events: [], result: { position: to } }
  return {
    state: board.toSpliced(at, 1).toSpliced(to - 1, 0, issue),
    events: [{ type: 'issue.moved', data: { from, to } }],
    result: { position: to },
  }
}
