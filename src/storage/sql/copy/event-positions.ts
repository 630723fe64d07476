import type { SqlDialect } from '../dialect.ts'
import type { CopiedRow } from './table-rows.ts'

type Order = SqlDialect['outboxOrder']

/**
 * Keeps the positions of events in the outbox, which cursors name, where one database has ids for them and the other positions.
 * Events without a position get the next ones, in the order of their ids, as the next reader would give them.
 */
export class EventPositions {
  readonly #from: Order
  readonly #to: Order
  readonly #floor: number
  /** The position of the last event, or of the last removed one. */
  last: number
  /** How many events have another id than before. */
  renumbered = 0

  /** @param outbox - the row of the outbox that is copied */
  constructor(from: Order, to: Order, outbox: CopiedRow | undefined) {
    this.#from = from
    this.#to = to
    this.#floor = Number(outbox?.['floor'] ?? 0)
    this.last = Math.max(this.#floor, Number(outbox?.['last_position'] ?? 0))
  }

  /** Returns an event as it is inserted. They come in the order of their ids. */
  moved(event: CopiedRow): CopiedRow {
    const { id } = event
    const position = Number(this.#from === 'id' ? id : (event['position'] ?? this.last + 1))
    this.last = Math.max(this.last, position)
    if (this.#to === 'position') return { ...event, position }

    if (String(position) !== id) this.renumbered += 1
    return { ...event, id: String(position), position: null }
  }

  /** The row of the outbox behind the last event. */
  get outbox(): { readonly last_position: number; readonly floor: number } {
    return { last_position: this.#to === 'position' ? this.last : 0, floor: this.#floor }
  }
}
