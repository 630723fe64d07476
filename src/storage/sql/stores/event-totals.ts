import { sql } from 'kysely'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { EventFilter } from '../../contract/events.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { queryEachAfter } from '../session.ts'

/** Events with places above `after`, up to `end`. */
export interface PlaceRange {
  readonly after: number
  readonly end: number
}

/**
 * Returns the statement that counts the events that a filter matches: all of them, those in a range of places, or those
 * that have no place yet.
 */
export type CountEvents = (filter: EventFilter, part?: PlaceRange | 'unplaced') => Statement<Count>

interface Count {
  readonly total: number
}

/** How many events a filter matches. */
export interface EventTotal extends Count {
  /** How many of them have no place yet: they are counted each time. */
  readonly unplaced: number
}

/** Where the outbox begins and where its places end. */
interface Bounds {
  readonly floor: number
  readonly last: number
}

/** A count of the events behind the floor, up to the last place of that time. */
interface Counted extends Bounds {
  readonly count: number
}

/** The number of filters whose counts are kept. */
const MEMO_SIZE = 100

/**
 * Counts the events that a filter matches. A count is kept, and later calls count only newer places. That is exact,
 * because places are in order of commit: a snapshot that contains the last place contains every earlier one. Behind the
 * floor no event is ever removed, because a prune moves the floor to the last event that it removes. Below the floor only
 * what the prune has left is counted, and events without a place are few. The database's own count takes the time that
 * all matching events take, and blocks a process that runs SQLite.
 */
export class EventTotals {
  readonly #count: CountEvents
  readonly #bounds: Query<Record<never, never>, Bounds>
  readonly #placesLater: boolean
  readonly #keepsCounts: boolean
  readonly #known = new Map<string, Counted>()

  constructor(
    context: SqlContext,
    { seesUncommitted }: Pick<SqlRuntime<unknown>, 'seesUncommitted'>,
    count: CountEvents,
  ) {
    this.#count = count
    this.#bounds = boundsQuery(context)
    this.#placesLater = context.dialect.outboxOrder === 'position'
    this.#keepsCounts = !seesUncommitted // a place that is rolled back is assigned again
  }

  /** Counts in the snapshot of the session. */
  *of(session: Session, filter: EventFilter): SyncOrAsync<EventTotal> {
    if (!this.#keepsCounts) return { total: yield* this.#countAll(session, filter), unplaced: 0 }

    const { bounds, unplaced } = yield* this.#current(session, filter)
    if (bounds === undefined) return { total: yield* this.#countAll(session, filter), unplaced }

    const { floor, last } = bounds
    const key = keyOf(filter)
    const known = this.#knownAt(key, bounds)
    const [left, newer] = yield* queryEachAfter<Count, Count[]>(
      session,
      this.#countRange(filter, { after: 0, end: floor }),
      this.#countRange(filter, { after: known.last, end: last }),
    )
    const count = known.count + sum(newer)
    this.#keep(key, { floor, last, count })
    return { total: sum(left) + count + unplaced, unplaced }
  }

  /** Reads the bounds, and counts the events without a place in the same round trip. */
  *#current(session: Session, filter: EventFilter) {
    const unplaced = this.#placesLater ? [this.#count(filter, 'unplaced')] : []
    const [[[bounds] = []], counted] = yield* queryEachAfter<Bounds, Count[]>(session, [this.#bounds({})], unplaced)
    return { bounds, unplaced: sum(counted) }
  }

  *#countAll(session: Session, filter: EventFilter): SyncOrAsync<number> {
    const row = yield* wait(session.first(this.#count(filter)))
    return row?.total ?? 0
  }

  #countRange(filter: EventFilter, range: PlaceRange): Statement<Count>[] {
    return range.after < range.end ? [this.#count(filter, range)] : []
  }

  /** Returns the kept count, or one of nothing if a prune has moved the floor since. */
  #knownAt(key: string, { floor, last }: Bounds): Counted {
    const known = this.#known.get(key)
    return known !== undefined && known.floor === floor && known.last <= last ? known : { floor, last: floor, count: 0 }
  }

  /** The filter that was not used for the longest time is dropped. */
  #keep(key: string, counted: Counted): void {
    this.#known.delete(key)
    this.#known.set(key, counted)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > MEMO_SIZE) this.#known.delete(oldest)
  }
}

function keyOf({ organizationId, repositoryId, userId, actorId, types }: EventFilter): string {
  return JSON.stringify([organizationId, repositoryId, userId, actorId, types].map((value) => value ?? null))
}

function sum(counts: readonly (readonly Count[])[]): number {
  return counts.flat().reduce((sum, { total }) => sum + total, 0)
}

function boundsQuery({ build, dialect }: SqlContext): Query<Record<never, never>, Bounds> {
  return defineQuery(() =>
    build
      .selectFrom('outbox')
      .select((row) => [
        dialect.number(row.ref('outbox.floor')).as('floor'),
        dialect
          .number(
            dialect.outboxOrder === 'position'
              ? row.ref('outbox.last_position')
              : row.selectFrom('events').select(sql<number>`coalesce(max(${sql.ref('events.id')}), 0)`.as('last')),
          )
          .as('last'),
      ]),
  )
}
