import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import type { ForgeEvent } from '../../../schema/events.ts'
import type { Steps } from '../../../schema/steps.ts'
import { wait } from '../../../schema/steps.ts'
import type { PlacedEvent } from '../event-rows.ts'
import { outboxPlace, selectEvents, toEvent } from '../event-rows.ts'
import { cursorOf, noCursor, placeOf } from '../pages.ts'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { ask } from '../session.ts'
import type { SqlContext } from '../sql-context.ts'
import type { Numbering } from './numbering.ts'
import type { OutboxRow } from './outbox-row.ts'

/** What the outbox works with. */
export interface OutboxParts<Tx> {
  readonly context: SqlContext
  readonly runtime: SqlRuntime<Tx>
  readonly row: OutboxRow
  readonly numbering: Numbering<Tx>
}

/** What a read of the outbox asks for. */
export interface OutboxQuery {
  readonly after: string | undefined
  readonly limit: number
}

/** What it gives. */
export interface OutboxPage {
  readonly events: readonly ForgeEvent[]
  readonly cursor: string
}

/** The reading of committed events in order. */
export class Outbox<Tx> {
  readonly #runtime: SqlRuntime<Tx>
  readonly #row: OutboxRow
  readonly #numbering: Numbering<Tx>
  readonly #after: Query<{ readonly after: number; readonly limit: number }, PlacedEvent>

  constructor({ context, runtime, row, numbering }: OutboxParts<Tx>) {
    this.#runtime = runtime
    this.#row = row
    this.#numbering = numbering
    this.#after = afterQuery(context)
  }

  /** @throws ForgeError `INVALID_INPUT` for a cursor that is none; `EVENTS_PRUNED` for one below the floor */
  *read({ after, limit }: OutboxQuery): Steps<OutboxPage> {
    const start = after === undefined ? undefined : placeInOutbox(after)
    const isNumbered = yield* this.#numbering.step()
    const page = yield* this.#read(start, limit)
    if (isNumbered || page.events.length > 0) return page

    // Another transaction is numbering. An empty page would hide committed events, and a consumer would sleep on it.
    yield* this.#waitForNumbering()
    return yield* this.#read(start, limit)
  }

  *#waitForNumbering(): Steps<void> {
    try {
      yield* this.#numbering.waitAndStep()
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY')) throw error // a page that is empty for now is a better answer
    }
  }

  *#read(start: number | undefined, limit: number): Steps<OutboxPage> {
    return yield* wait(this.#runtime.readSnapshot((session) => this.#page(session, start, limit), undefined))
  }

  /** The floor and the events come from one snapshot: nothing is removed between the look at the one and at the other. */
  *#page(session: Session, start: number | undefined, limit: number): Steps<OutboxPage> {
    const { floor } = yield* this.#row.read(session)
    const after = start ?? floor
    if (after < floor) throw pruned(floor)

    const rows = yield* ask(session, this.#after({ after, limit }))
    return { events: rows.map(({ place: _, ...row }) => toEvent(row)), cursor: cursorOf(rows.at(-1)?.place ?? after) }
  }
}

/** The place a cursor of the outbox names: they count upwards from zero, those of the audit view are below. */
export function placeInOutbox(cursor: string): number {
  const place = placeOf(cursor)
  if (place < 0) throw noCursor()
  return place
}

function pruned(place: number): ForgeError<'EVENTS_PRUNED'> {
  const floor = cursorOf(place)
  return new ForgeError('EVENTS_PRUNED', 'events after this cursor have been pruned: go on from the floor', { floor })
}

function afterQuery(context: SqlContext): Query<{ readonly after: number; readonly limit: number }, PlacedEvent> {
  const place = outboxPlace(context)
  return defineQuery((given) =>
    selectEvents(context)
      .select(context.dialect.number(place).as('place'))
      .where(place, '>', given('after'))
      .orderBy(place)
      .limit(given('limit')),
  )
}
