import type { ForgeEvent } from '../../schema/events.ts'
import type { Block } from '../../schema/records.ts'
import type { PinRow } from '../contract/pin-board-store.ts'

/** A pin of its own: nobody else holds its date. */
export function copyPin(pin: PinRow): PinRow {
  return { ...pin, pinnedAt: new Date(pin.pinnedAt) }
}

/** A block of its own. */
export function copyBlock(block: Block): Block {
  return { ...block, blockedAt: new Date(block.blockedAt) }
}

/** An event of its own. */
export function copyEvent<E extends ForgeEvent>(event: E): E {
  return { ...event, at: new Date(event.at), data: { ...event.data } }
}
