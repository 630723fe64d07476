import { Refusal } from './answer.ts'
import type { Turn } from './forge-model.ts'
import type { ModelPin } from './model-state.ts'
import type { Inputs, Issue } from './step.ts'
import { MAX_PINS } from './world.ts'

export function pin(turn: Turn, issue: Issue): unknown {
  const board = openBoard(turn, issue.repositoryId, issue.kind)
  const found = board.findIndex((one) => one.issueId === issue.id)
  if (found >= 0) return shown(board, found)
  const limit = MAX_PINS[issue.kind]
  if (board.length >= limit) throw new Refusal('PIN_LIMIT_REACHED', { kind: issue.kind, limit })
  if (turn.state.gone.has(`issue ${issue.id}`)) throw new Refusal('ISSUE_NOT_FOUND')

  board.push({ issueId: issue.id, pinnedAt: turn.now, pinnedBy: turn.actorId })
  turn.report('issue.pinned', { position: board.length }, subjectOf(issue))
  return shown(board, board.length - 1)
}

export function unpin(turn: Turn, issue: Issue): unknown {
  const board = openBoard(turn, issue.repositoryId, issue.kind)
  const found = board.findIndex((one) => one.issueId === issue.id)
  if (found < 0) return undefined

  board.splice(found, 1)
  turn.report('issue.unpinned', { position: found + 1 }, subjectOf(issue))
  return undefined
}

export function move(turn: Turn, { issue, position }: Inputs['move']): unknown {
  const board = openBoard(turn, issue.repositoryId, issue.kind)
  if (!Number.isInteger(position) || position < 1) throw new Refusal('INVALID_INPUT', ['/position'])
  const found = board.findIndex((one) => one.issueId === issue.id)
  if (found < 0) throw new Refusal('ISSUE_NOT_PINNED')

  const to = position > board.length ? board.length - 1 : position - 1
  if (to !== found) {
    board.splice(to, 0, ...board.splice(found, 1))
    turn.report('issue.moved', { from: found + 1, to: to + 1 }, subjectOf(issue))
  }
  return shown(board, to)
}

export function list(turn: Turn, { repositoryId, kind }: Inputs['listPins']): unknown {
  const board = openBoard(turn, repositoryId, kind)
  return board.map((_, index) => shown(board, index))
}

export function allowed(turn: Turn, repositoryId: string): unknown {
  const issues = openBoard(turn, repositoryId, 'issue')
  const pulls = openBoard(turn, repositoryId, 'pullRequest')
  return { issue: issues.length < MAX_PINS.issue, pullRequest: pulls.length < MAX_PINS.pullRequest }
}

export function history(turn: Turn, issue: Issue): unknown {
  turn.check('REPOSITORY_NOT_FOUND')

  const types = ['issue.pinned', 'issue.unpinned']
  return turn.state.events.filter((event) => event.issueId === issue.id && types.includes(event.type))
}

function openBoard(turn: Turn, repositoryId: string, kind: string): ModelPin[] {
  turn.check('REPOSITORY_NOT_FOUND')
  if (turn.state.gone.has(`repository ${repositoryId}`)) throw new Refusal('REPOSITORY_NOT_FOUND')
  return turn.state.board(repositoryId, kind)
}

function shown(board: readonly ModelPin[], index: number): unknown {
  return { ...board[index], position: index + 1 }
}

function subjectOf(issue: Issue): { repositoryId: string; issueId: string } {
  return { repositoryId: issue.repositoryId, issueId: issue.id }
}
