import type { Block } from '../../src/index.ts'
import { Refusal } from './answer.ts'
import type { Turn } from './forge-model.ts'
import type { Inputs } from './step.ts'

export function block(turn: Turn, step: Inputs['block']): unknown {
  const { account, note = '' } = step
  turn.check(concealed(step))
  if ([...note].length > 255 || note.includes('\0') || note === '\ud800') throw new Refusal('INVALID_INPUT', ['/note'])
  if (account.kind === 'organization') throw new Refusal('CANNOT_BLOCK_ORGANIZATION')
  if (account.id === turn.actorId || account.id === step.blockerId) throw new Refusal('CANNOT_BLOCK_SELF')
  refuseGone(turn, step, account.id)
  if (turn.state.members.has(`${step.organizationId}/${account.id}`)) throw new Refusal('CANNOT_BLOCK_MEMBER')
  if (blockOf(turn, step, account.id) !== undefined) throw new Refusal('ALREADY_BLOCKED')

  const rest = { userId: account.id, note, blockedAt: turn.now, blockedBy: turn.actorId }
  const added =
    step.blockerId === undefined
      ? { organizationId: step.organizationId, ...rest }
      : { blockerId: step.blockerId, ...rest }
  turn.state.blocksBy(step).push(added)
  report(turn, 'user.blocked', step, account.id, { note })
  return added
}

export function unblock(turn: Turn, step: Inputs['unblock']): unknown {
  const { account } = step
  turn.check(concealed(step))
  if (account.kind === 'organization') throw new Refusal('CANNOT_BLOCK_ORGANIZATION')
  refuseGone(turn, step, account.id)
  const found = blockOf(turn, step, account.id)
  if (found === undefined) throw new Refusal('NOT_BLOCKED')

  const blocks = turn.state.blocksBy(step)
  blocks.splice(blocks.indexOf(found), 1)
  report(turn, 'user.unblocked', step, account.id, {})
  return undefined
}

export function find(turn: Turn, step: Inputs['findBlock']): unknown {
  turn.check(concealed(step))
  return blockOf(turn, step, step.userId)
}

export function list(turn: Turn, step: Inputs['listBlocks']): unknown {
  turn.check(concealed(step))
  checkPage(step.page, step.limit)
  refuseGone(turn, step)
  return pageOf(turn.state.blocksBy(step), step.page, step.limit)
}

export function walk(turn: Turn, step: Inputs['walkBlocks']): unknown {
  refuseGone(turn, step)
  return [...turn.state.blocksBy(step)]
}

export function among(turn: Turn, { userIds, ...blockers }: Inputs['filterBlocked']): unknown {
  return [...new Set(userIds)].filter((userId) => blocking(turn, blockers, userId).length > 0).sort()
}

export function refuse(turn: Turn, { userId, ...blockers }: Inputs['refuseBlocked']): unknown {
  const found = blocking(turn, blockers, userId)
  if (found.length > 0) throw new Refusal('BLOCKED', Object.assign({}, ...found))
  return undefined
}

/** Whose blocks a step is about. */
type Blocker = Pick<Block, 'organizationId' | 'blockerId'>

/** Those of the organization and the user who block a user. */
function blocking(
  turn: Turn,
  { organizationId, blockerId }: Omit<Inputs['refuseBlocked'], 'userId'>,
  userId: string,
): readonly Blocker[] {
  const all: Blocker[] = []
  if (organizationId !== undefined) all.push({ organizationId })
  if (blockerId !== undefined) all.push({ blockerId })
  return all.filter((one) => blockOf(turn, one, userId) !== undefined)
}

function concealed({ blockerId }: Blocker): 'ORGANIZATION_NOT_FOUND' | 'USER_NOT_FOUND' {
  return blockerId === undefined ? 'ORGANIZATION_NOT_FOUND' : 'USER_NOT_FOUND'
}

function report(turn: Turn, type: string, { organizationId, blockerId }: Blocker, userId: string, data: object): void {
  if (organizationId !== undefined) turn.report(type, data, { organizationId, userId })
  else turn.report(type, { ...data, blockerId }, { userId })
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

/** Refuses a user, then who blocks, that is gone. */
export function refuseGone(turn: Turn, { organizationId, blockerId }: Blocker, userId?: string): void {
  const { gone } = turn.state
  if (gone.has(`user ${userId}`) || gone.has(`user ${blockerId}`)) throw new Refusal('USER_NOT_FOUND')
  if (gone.has(`organization ${organizationId}`)) throw new Refusal('ORGANIZATION_NOT_FOUND')
}

/** The block of a user by an organization or a user. */
export function blockOf(turn: Turn, blocker: Blocker, userId: string): Block | undefined {
  return turn.state.blocksBy(blocker).find((one) => one.userId === userId)
}
