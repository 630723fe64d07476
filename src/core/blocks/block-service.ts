import type { Face } from '../face.ts'
import { face } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { BlockService } from '../services.ts'
import type { BlockOperations } from './block-operations.ts'

/** The block service over its operations. */
export function blockService<A extends Actor, Tx>(blocks: BlockOperations<A, Tx>): Face<BlockService<A>, A, Tx> {
  return face<BlockService<A>, A, Tx>((open, perform) => ({
    block: (actor, target, options) => perform(blocks.block(open(actor, options), target)),
    unblock: (actor, target, options) => perform(blocks.unblock(open(actor, options), target)),
    find: (actor, target, options) => perform(blocks.find(open(actor, options), target)),
    list: (actor, organizationId, page, options) => perform(blocks.list(open(actor, options), organizationId, page)),
    blockedAmong: (organizationId, userIds) =>
      perform(blocks.blockedAmong(open('system', undefined), organizationId, userIds)),
  }))
}
