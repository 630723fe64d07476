import type { OpenCall } from '../call.ts'
import type { Perform, PerformLater, PerformNow } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { BlockService, Prompt, Synchronous } from '../services.ts'
import type { BlockOperations } from './block-operations.ts'

/** The block service over its operations, as promises, at once, or whichever comes. */
export function blockService<A extends Actor, Tx>(
  blocks: BlockOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformLater,
): BlockService<A>
export function blockService<A extends Actor, Tx>(
  blocks: BlockOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformNow,
): Synchronous<BlockService<A>>
export function blockService<A extends Actor, Tx>(
  blocks: BlockOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<BlockService<A>>
export function blockService<A extends Actor, Tx>(
  blocks: BlockOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<BlockService<A>> {
  return {
    block: (actor, target, options) => perform(blocks.block(open(actor, options), target)),
    unblock: (actor, target, options) => perform(blocks.unblock(open(actor, options), target)),
    find: (actor, target, options) => perform(blocks.find(open(actor, options), target)),
    list: (actor, organizationId, page, options) => perform(blocks.list(open(actor, options), organizationId, page)),
    blockedAmong: (organizationId, userIds) =>
      perform(blocks.blockedAmong(open('system', undefined), organizationId, userIds)),
  }
}
