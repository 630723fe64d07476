import type { Face } from '../face.ts'
import { face } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { PinService } from '../services.ts'
import type { PinOperations } from './pin-operations.ts'

/** The pin service over its operations. */
export function pinService<A extends Actor, Tx>(pins: PinOperations<A, Tx>): Face<PinService<A>, A, Tx> {
  return face<PinService<A>, A, Tx>((open, perform) => ({
    pin: (actor, issue, options) => perform(pins.pin(open(actor, options), issue)),
    unpin: (actor, issue, options) => perform(pins.unpin(open(actor, options), issue)),
    move: (actor, issue, position, options) => perform(pins.move(open(actor, options), issue, position)),
    list: (actor, board, options) => perform(pins.list(open(actor, options), board)),
    allowed: (actor, repositoryId, options) => perform(pins.allowed(open(actor, options), repositoryId)),
    history: (actor, issue, options) => perform(pins.history(open(actor, options), issue)),
  }))
}
