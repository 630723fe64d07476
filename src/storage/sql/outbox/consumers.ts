import type { Steps } from '../../../schema/steps.ts'
import type { Claim, Consumer } from '../../contract/event-store.ts'
import { cursorOf } from '../pages.ts'
import type { Session } from '../session.ts'
import { ask, askFirst, tell } from '../session.ts'
import type { SqlContext } from '../sql-context.ts'
import type { ConsumerQueries, ConsumerRow } from './consumer-queries.ts'
import { consumerQueries } from './consumer-queries.ts'
import { placeInOutbox } from './outbox.ts'
import type { OutboxRow } from './outbox-row.ts'

/**
 * The names that consume the outbox: cursors and leases. A name's row is locked before it is read, and the outbox's row
 * before a new name is made, so that none begins below a floor that is being moved. No lease is judged by another clock
 * than the database's.
 */
export class Consumers {
  readonly #queries: ConsumerQueries
  readonly #outbox: OutboxRow

  constructor(context: SqlContext, outbox: OutboxRow) {
    this.#queries = consumerQueries(context)
    this.#outbox = outbox
  }

  *claim(session: Session, consumer: Consumer, milliseconds: number): Steps<Claim | undefined> {
    const row = (yield* this.#lock(session, consumer.name)) ?? (yield* this.#add(session, consumer.name))
    if (isLeased(row) && row.holder !== consumer.holder) return undefined

    yield* tell(session, this.#queries.lease({ ...consumer, milliseconds }))
    return { cursor: cursorOf(row.position) }
  }

  *advance(session: Session, consumer: Consumer, cursor: string): Steps<boolean> {
    const position = placeInOutbox(cursor)
    const row = yield* this.#lock(session, consumer.name)
    if (row === undefined || !isLeased(row) || row.holder !== consumer.holder) return false

    // never back: who prunes reads the cursors without locking them
    if (position > row.position) yield* tell(session, this.#queries.move({ name: consumer.name, position }))
    return true
  }

  *release(session: Session, consumer: Consumer): Steps<void> {
    yield* tell(session, this.#queries.release(consumer))
  }

  *forget(session: Session, name: string): Steps<boolean> {
    const gone = yield* ask(session, this.#queries.remove({ name }))
    return gone.length > 0
  }

  /** The place that every name has behind it; undefined when there are no names. */
  *behindAll(session: Session): Steps<number | undefined> {
    const row = yield* askFirst(session, this.#queries.slowest({}))
    return row?.position
  }

  *#lock(session: Session, name: string): Steps<ConsumerRow | undefined> {
    yield* tell(session, this.#queries.lock({ name }))
    return yield* askFirst(session, this.#queries.find({ name }))
  }

  *#add(session: Session, name: string): Steps<ConsumerRow> {
    const { floor } = yield* this.#outbox.lock(session)
    const added = yield* this.#lock(session, name) // by another, while we waited for the outbox
    if (added !== undefined) return added

    yield* tell(session, this.#queries.insert({ name, position: floor }))
    return { position: floor, holder: null, until: 0, now: 0 }
  }
}

function isLeased({ holder, until, now }: ConsumerRow): boolean {
  return holder !== null && until > now
}
