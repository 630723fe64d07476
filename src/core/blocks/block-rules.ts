import { ForgeError } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Block, Decision } from '../../schema/records.ts'

/** The account to block or unblock, with its canonical id. */
export interface BlockTarget {
  readonly kind: 'user' | 'organization'
  readonly id: Id
}

/**
 * Refuses a target that can never be blocked, before anything is looked up: first an organization, then the caller and the
 * user who blocks.
 *
 * @param callerId - the id of the caller; null for the host's own code
 * @param blockerId - the id of the user who blocks; undefined if an organization does
 * @throws ForgeError `CANNOT_BLOCK_ORGANIZATION`, `CANNOT_BLOCK_SELF`. Source: docs/behaviour.md, Blocks
 */
export function refuseTarget(target: BlockTarget, callerId: Id | null, blockerId?: Id): void {
  refuseOrganization(target)
  if (target.id === callerId || target.id === blockerId)
    throw new ForgeError('CANNOT_BLOCK_SELF', 'cannot block yourself')
}

/**
 * Refuses an organization as a target.
 * @throws ForgeError `CANNOT_BLOCK_ORGANIZATION`. Source: docs/behaviour.md, Blocks
 */
export function refuseOrganization(target: BlockTarget): void {
  if (target.kind === 'organization') {
    throw new ForgeError('CANNOT_BLOCK_ORGANIZATION', 'cannot block an organization')
  }
}

/**
 * Blocks a user who is neither a member nor already blocked.
 *
 * @param current - the current block of the user, if any
 * @param block - the new block
 * @param isMember - whether the user is a member of the organization; false if a user blocks
 * @throws ForgeError `CANNOT_BLOCK_MEMBER`, then `ALREADY_BLOCKED`. Source: docs/behaviour.md, Blocks
 */
export function blockUser<B extends Block>(
  current: B | undefined,
  block: B,
  isMember: boolean,
): Decision<B | undefined, B> {
  if (isMember) throw new ForgeError('CANNOT_BLOCK_MEMBER', 'cannot block a member of the organization')
  if (current !== undefined) throw new ForgeError('ALREADY_BLOCKED', 'user is already blocked')

  const data = { note: block.note, ...blockerOf(block) }
  return { state: block, events: [{ type: 'user.blocked', data }], result: block }
}

/** Lifts a block. @throws ForgeError `NOT_BLOCKED`. Source: docs/behaviour.md, Blocks */
export function unblockUser<B extends Block>(current: B | undefined): Decision<B | undefined, void> {
  if (current === undefined) throw new ForgeError('NOT_BLOCKED', 'user is not blocked')

  return { state: undefined, events: [{ type: 'user.unblocked', data: blockerOf(current) }], result: undefined }
}

/** The user who blocks, for the data of an event, whose subject has no property for that. */
function blockerOf({ blockerId }: Block): { readonly blockerId?: Id } {
  return blockerId === undefined ? {} : { blockerId }
}
