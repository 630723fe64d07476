import { sql } from 'kysely'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { EventFilter } from '../../contract/events.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session, SqlRuntime } from '../session.ts'

/** Events with places above `after`, up to `end`. */
export interface PlaceRange {
  readonly after: number
  readonly end: number
}

/** Returns the statement that counts the events that a filter matches; of a range if one is given. */
export type CountEvents = (filter: EventFilter, range?: PlaceRange) => Statement<{ readonly total: number }>

/** Where the outbox begins and where the events end. */
interface Bounds {
  readonly floor: number
  readonly last: number
}

/** A count of the events behind the floor, up to the last event of that time. */
interface Counted extends Bounds {
  readonly count: number
}

/** The number of filters whose counts are kept. */
const MEMO_SIZE = 100

/**
 * Counts the events that a filter matches. Where ids are in order of commit and only committed events are counted, a
 * count is kept, and later calls count only newer events: behind the floor no event is ever removed, because a prune
 * moves the floor to the last event that it removes. Below the floor only what the prune has left is counted. The database's own count takes the time that all
 * matching events take, and blocks a process that runs SQLite.
 */
export class EventTotals {
  readonly #count: CountEvents
  readonly #bounds: Query<Record<never, never>, Bounds> | undefined
  readonly #known = new Map<string, Counted>()

  constructor(
    context: SqlContext,
    { seesUncommitted }: Pick<SqlRuntime<unknown>, 'seesUncommitted'>,
    count: CountEvents,
  ) {
    this.#count = count
    const keepsCounts = context.dialect.outboxOrder === 'id' && !seesUncommitted // an id that is rolled back comes again
    this.#bounds = keepsCounts ? boundsQuery(context) : undefined
  }

  /** Counts in the snapshot of the session. */
  *of(session: Session, filter: EventFilter): SyncOrAsync<number> {
    const bounds = this.#bounds && (yield* wait(session.first(this.#bounds({}))))
    if (bounds === undefined) return yield* this.#counted(session, filter)

    const { floor, last } = bounds
    const left = floor === 0 ? 0 : yield* this.#counted(session, filter, { after: 0, end: floor })
    const key = keyOf(filter)
    const known = this.#knownAt(key, bounds)
    const newer = known.last < last ? yield* this.#counted(session, filter, { after: known.last, end: last }) : 0
    const count = known.count + newer
    this.#keep(key, { floor, last, count })
    return left + count
  }

  *#counted(session: Session, filter: EventFilter, range?: PlaceRange): SyncOrAsync<number> {
    const row = yield* wait(session.first(this.#count(filter, range)))
    return row?.total ?? 0
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

function boundsQuery({ build, dialect }: SqlContext): Query<Record<never, never>, Bounds> {
  return defineQuery(() =>
    build
      .selectFrom('outbox')
      .select((row) => [
        dialect.number(row.ref('outbox.floor')).as('floor'),
        dialect
          .number(row.selectFrom('events').select(sql<number>`coalesce(max(${sql.ref('events.id')}), 0)`.as('last')))
          .as('last'),
      ]),
  )
}
