import { describe, expect, test } from 'vitest'
import type { Decision } from '../../../src/index.ts'
import { isForgeError, movePin, pinIssue, unpinIssue } from '../../../src/index.ts'

type Board = readonly string[]
type Answer = { readonly board: Board; readonly says: readonly string[] } | { readonly refused: string }

function decide(rule: () => Decision<Board, unknown>): Answer {
  try {
    const { state, events } = rule()
    return { board: state, says: events.map(({ type, data }) => `${type} ${Object.values(data).join('>')}`) }
  } catch (error) {
    if (isForgeError(error)) return { refused: error.code }
    throw error
  }
}

const pins: readonly [string, Board, string, number, Answer][] = [
  ['puts the first issue at 1', [], 'a', 3, { board: ['a'], says: ['issue.pinned 1'] }],
  ['puts the next one last', ['a', 'b'], 'c', 3, { board: ['a', 'b', 'c'], says: ['issue.pinned 3'] }],
  ['refuses one more than the limit', ['a', 'b', 'c'], 'd', 3, { refused: 'PIN_LIMIT_REACHED' }],
  ['changes nothing when it is pinned', ['a', 'b'], 'a', 3, { board: ['a', 'b'], says: [] }],
  ['changes nothing when it is pinned on a full board', ['a', 'b'], 'b', 2, { board: ['a', 'b'], says: [] }],
  ['is disabled by a limit that is no number', [], 'a', Number.NaN, { refused: 'PIN_LIMIT_REACHED' }],
  ['is disabled by a limit of 0', [], 'a', 0, { refused: 'PIN_LIMIT_REACHED' }],
  ['keeps a board above a lowered limit', ['a', 'b', 'c'], 'c', 2, { board: ['a', 'b', 'c'], says: [] }],
]

const unpins: readonly [string, Board, string, Answer][] = [
  ['closes the gap', ['a', 'b', 'c'], 'a', { board: ['b', 'c'], says: ['issue.unpinned 1'] }],
  ['empties the board', ['a'], 'a', { board: [], says: ['issue.unpinned 1'] }],
  ['changes nothing when it is not pinned', ['a'], 'z', { board: ['a'], says: [] }],
]

const moves: readonly [string, Board, string, number, Answer][] = [
  ['goes up', ['a', 'b', 'c'], 'c', 1, { board: ['c', 'a', 'b'], says: ['issue.moved 3>1'] }],
  ['goes down', ['a', 'b', 'c'], 'a', 2, { board: ['b', 'a', 'c'], says: ['issue.moved 1>2'] }],
  [
    'goes last when the position is beyond the end',
    ['a', 'b', 'c'],
    'a',
    50,
    { board: ['b', 'c', 'a'], says: ['issue.moved 1>3'] },
  ],
  ['changes nothing when it is there', ['a', 'b'], 'b', 2, { board: ['a', 'b'], says: [] }],
  ['changes nothing when it is last and goes beyond the end', ['a', 'b'], 'b', 9, { board: ['a', 'b'], says: [] }],
  ['refuses what is not pinned', ['a'], 'z', 1, { refused: 'ISSUE_NOT_PINNED' }],
  ['refuses position 0', ['a'], 'a', 0, { refused: 'INVALID_INPUT' }],
  ['refuses a negative position', ['a'], 'a', -1, { refused: 'INVALID_INPUT' }],
  ['refuses half a position', ['a'], 'a', 1.5, { refused: 'INVALID_INPUT' }],
  ['refuses a position before it looks for the issue', ['a'], 'z', 0, { refused: 'INVALID_INPUT' }],
]

describe('pinning', () => {
  test.each(pins)('%s', (_fact, board, issue, limit, answer) => {
    expect(decide(() => pinIssue(board, issue, limit))).toEqual(answer)
  })

  test('names the kind and the limit in the refusal', () => {
    const refusal = (): unknown => pinIssue(['a'], 'b', 1, 'pullRequest')
    expect(refusal).toThrow('the limit of pinned pull requests is 1')
  })
})

describe('unpinning', () => {
  test.each(unpins)('%s', (_fact, board, issue, answer) => {
    expect(decide(() => unpinIssue(board, issue))).toEqual(answer)
  })
})

describe('moving', () => {
  test.each(moves)('%s', (_fact, board, issue, position, answer) => {
    expect(decide(() => movePin(board, issue, position))).toEqual(answer)
  })

  test('names the position in the refusal', () => {
    try {
      movePin(['a'], 'a', 0)
      expect.unreachable()
    } catch (error) {
      expect(isForgeError(error, 'INVALID_INPUT') && error.details.violations[0]?.pointer).toBe('/position')
    }
  })
})

test('a rule leaves the board it was given as it was', () => {
  const rules = [
    (board: Board) => pinIssue(board, 'd', 4),
    (board: Board) => unpinIssue(board, 'a'),
    (board: Board) => movePin(board, 'a', 3),
  ]
  for (const rule of rules) {
    const board = Object.freeze(['a', 'b', 'c'])
    expect(decide(() => rule(board))).not.toMatchObject({ board })
  }
})
