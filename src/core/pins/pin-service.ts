import type { OpenCall } from '../call.ts'
import type { Perform, PerformLater, PerformNow } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { PinService, Prompt, Synchronous } from '../services.ts'
import type { PinOperations } from './pin-operations.ts'

/** The pin service over its operations, as promises, at once, or whichever comes. */
export function pinService<A extends Actor, Tx>(
  pins: PinOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformLater,
): PinService<A>
export function pinService<A extends Actor, Tx>(
  pins: PinOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformNow,
): Synchronous<PinService<A>>
export function pinService<A extends Actor, Tx>(
  pins: PinOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<PinService<A>>
export function pinService<A extends Actor, Tx>(
  pins: PinOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<PinService<A>> {
  return {
    pin: (actor, issue, options) => perform(pins.pin(open(actor, options), issue)),
    unpin: (actor, issue, options) => perform(pins.unpin(open(actor, options), issue)),
    move: (actor, issue, position, options) => perform(pins.move(open(actor, options), issue, position)),
    list: (actor, board, options) => perform(pins.list(open(actor, options), board)),
    allowed: (actor, repositoryId, options) => perform(pins.allowed(open(actor, options), repositoryId)),
    history: (actor, issue, options) => perform(pins.history(open(actor, options), issue)),
  }
}
