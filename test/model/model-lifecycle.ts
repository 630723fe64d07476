import { Refusal } from './answer.ts'
import type { Turn } from './forge-model.ts'
import { blockOf, refuseGone } from './model-blocks.ts'
import type { Inputs, Issue } from './step.ts'
import { KINDS } from './world.ts'

type Member = Inputs['memberAdded']

export function userDeleted(turn: Turn, userId: string): unknown {
  if (!leaves(turn, `user ${userId}`)) return undefined

  let blocks = 0
  for (const list of turn.state.blocks.values()) {
    const found = list.findIndex((one) => one.userId === userId)
    if (found >= 0) blocks += list.splice(found, 1).length
  }
  blocks += turn.state.blocksBy({ blockerId: userId }).splice(0).length
  const grants = turn.state.grantsOf(userId).splice(0).length
  turn.report('user.deleted', { blocks, grants }, { userId })
  return undefined
}

export function organizationDeleted(turn: Turn, organizationId: string): unknown {
  if (!leaves(turn, `organization ${organizationId}`)) return undefined

  const blocks = turn.state.blocksBy({ organizationId }).splice(0).length
  turn.report('organization.deleted', { blocks }, { organizationId })
  return undefined
}

export function repositoryDeleted(turn: Turn, repositoryId: string): unknown {
  if (!leaves(turn, `repository ${repositoryId}`)) return undefined

  const pins = KINDS.map((kind) => turn.state.board(repositoryId, kind).splice(0).length)
  turn.report('repository.deleted', { pins: pins.reduce((sum, count) => sum + count) }, { repositoryId })
  return undefined
}

export function issueDeleted(turn: Turn, issue: Issue): unknown {
  if (!leaves(turn, `issue ${issue.id}`)) return undefined

  const board = turn.state.board(issue.repositoryId, issue.kind)
  const found = board.findIndex((one) => one.issueId === issue.id)
  if (found >= 0) board.splice(found, 1)
  turn.report('issue.deleted', { wasPinned: found >= 0 }, { repositoryId: issue.repositoryId, issueId: issue.id })
  return undefined
}

export function memberAdded(turn: Turn, { organizationId, userId }: Member): unknown {
  refuseGone(turn, { organizationId }, userId)
  if (blockOf(turn, { organizationId }, userId) !== undefined) throw new Refusal('ALREADY_BLOCKED')

  turn.state.members.add(`${organizationId}/${userId}`)
  return undefined
}

export function memberRemoved(turn: Turn, { organizationId, userId }: Member): unknown {
  turn.state.members.delete(`${organizationId}/${userId}`)
  return undefined
}

/** Remembers what is gone; false when it was gone before. */
function leaves(turn: Turn, thing: string): boolean {
  if (turn.state.gone.has(thing)) return false
  turn.state.gone.add(thing)
  return true
}
