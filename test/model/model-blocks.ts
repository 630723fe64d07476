import type { Block } from '../../src/index.ts'
import { Refusal } from './answer.ts'
import type { Turn } from './forge-model.ts'
import type { Inputs } from './step.ts'

export function block(turn: Turn, step: Inputs['block']): unknown {
  const { organizationId, account, note = '' } = step
  turn.check('ORGANIZATION_NOT_FOUND')
  if ([...note].length > 255 || note.includes('\0') || note === '\ud800') throw new Refusal('INVALID_INPUT', ['/note'])
  if (account.kind === 'organization') throw new Refusal('CANNOT_BLOCK_ORGANIZATION')
  if (account.id === turn.actorId) throw new Refusal('CANNOT_BLOCK_SELF')
  refuseGone(turn, organizationId, account.id)
  if (turn.state.members.has(`${organizationId}/${account.id}`)) throw new Refusal('CANNOT_BLOCK_MEMBER')
  if (blockOf(turn, organizationId, account.id) !== undefined) throw new Refusal('ALREADY_BLOCKED')

  const added = { organizationId, userId: account.id, note, blockedAt: turn.now, blockedBy: turn.actorId }
  turn.state.blocksOf(organizationId).push(added)
  turn.report('user.blocked', { note }, { organizationId, userId: account.id })
  return added
}

export function unblock(turn: Turn, { organizationId, account }: Inputs['unblock']): unknown {
  turn.check('ORGANIZATION_NOT_FOUND')
  if (account.kind === 'organization') throw new Refusal('CANNOT_BLOCK_ORGANIZATION')
  refuseGone(turn, organizationId, account.id)
  const found = blockOf(turn, organizationId, account.id)
  if (found === undefined) throw new Refusal('NOT_BLOCKED')

  const blocks = turn.state.blocksOf(organizationId)
  blocks.splice(blocks.indexOf(found), 1)
  turn.report('user.unblocked', {}, { organizationId, userId: account.id })
  return undefined
}

export function find(turn: Turn, { organizationId, userId }: Inputs['findBlock']): unknown {
  turn.check('ORGANIZATION_NOT_FOUND')
  return blockOf(turn, organizationId, userId)
}

export function list(turn: Turn, { organizationId, page, limit }: Inputs['listBlocks']): unknown {
  turn.check('ORGANIZATION_NOT_FOUND')
  checkPage(page, limit)
  if (turn.state.gone.has(`organization ${organizationId}`)) throw new Refusal('ORGANIZATION_NOT_FOUND')
  return pageOf(turn.state.blocksOf(organizationId), page, limit)
}

export function walk(turn: Turn, { organizationId }: Inputs['walkBlocks']): unknown {
  if (turn.state.gone.has(`organization ${organizationId}`)) throw new Refusal('ORGANIZATION_NOT_FOUND')
  return [...turn.state.blocksOf(organizationId)]
}

export function among(turn: Turn, { organizationId, userIds }: Inputs['filterBlocked']): unknown {
  return [...new Set(userIds)].filter((userId) => blockOf(turn, organizationId, userId) !== undefined).sort()
}

/** Refuses an invalid page request. */
export function checkPage(page: number, limit: number): void {
  if (!Number.isInteger(page) || page < 1) throw new Refusal('INVALID_INPUT', ['/page'])
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new Refusal('INVALID_INPUT', ['/limit'])
}

/** One page of a list by number. */
export function pageOf<T>(all: readonly T[], page: number, limit: number): unknown {
  return {
    items: all.slice((page - 1) * limit, page * limit),
    total: all.length,
    limit,
    more: (page - 1) * limit < all.length && page * limit < all.length,
  }
}

/** Refuses a user, then an organization, that is gone. */
export function refuseGone(turn: Turn, organizationId: string, userId: string): void {
  if (turn.state.gone.has(`user ${userId}`)) throw new Refusal('USER_NOT_FOUND')
  if (turn.state.gone.has(`organization ${organizationId}`)) throw new Refusal('ORGANIZATION_NOT_FOUND')
}

/** The block of a user by an organization. */
export function blockOf(turn: Turn, organizationId: string, userId: string): Block | undefined {
  return turn.state.blocksOf(organizationId).find((one) => one.userId === userId)
}
