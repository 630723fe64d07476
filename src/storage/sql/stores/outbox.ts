import type { AliasedRawBuilder } from 'kysely'
import { sql } from 'kysely'
import { cursorAhead, eventsPruned, ForgeError, invalidCursor, isForgeError } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { EventStore } from '../../contract/events.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { Query, QueryValues, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { CallLimits } from '../retry.ts'
import { limitsOfOneCall } from '../retry.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { queryEach } from '../session.ts'
import type { EventRow } from './event-log.ts'
import { EVENT_FIELDS, outboxPosition, selectEvents, toEvent } from './event-log.ts'
import { cursorOf, positionIn } from './pages.ts'

type OutboxQuery = Parameters<EventStore<unknown>['read']>[0]

type OutboxPage = Awaited<ReturnType<EventStore<unknown>['read']>>

/**
 * The one row of the outbox: the last assigned position, 0 if ids are the positions; and the position of the last removed
 * event, after which reading begins.
 */
type OutboxState = Pick<Row<'outbox'>, 'lastPosition' | 'floor'>

/** The position of the last event, or of the last removed one if that is later. */
interface Newest {
  readonly newest: number
}

/** A row of a page of events: an event, and the floor and the newest position of the outbox. Without events, its columns are null. */
type FloorAndEvent = Pick<OutboxState, 'floor'> &
  Newest &
  ((EventRow & { readonly sortKey: number }) | { readonly sortKey: null })

/** The maximum number of events numbered in one transaction. */
const MAX_NUMBERED_EVENTS = 1000

/**
 * The outbox. If ids are not in order of commit, a read first assigns positions to committed events. All events of a
 * transaction become visible together with it, and one transaction numbers at a time, because it locks the one row of the
 * outbox. Positions therefore grow in order of commit, without gaps.
 */
export class Outbox<Tx> {
  readonly #context: SqlContext
  readonly #runtime: SqlRuntime<Tx>

  readonly #find = defineQuery((_: QueryValues<unknown>) =>
    this.#context.build.selectFrom('outbox').select(fieldsOf(this.#context, 'outbox').read('lastPosition', 'floor')),
  )

  /** Locks the row: writing a column unchanged does that in every database. */
  readonly #lock = defineQuery(
    (_: QueryValues<unknown>) => this.#context.build.updateTable('outbox').set((row) => ({ floor: row.ref('floor') })),
    { takesLock: true },
  )

  readonly #save = defineQuery((given: QueryValues<OutboxState>) =>
    this.#context.build
      .updateTable('outbox')
      .set(fieldsOf(this.#context, 'outbox').written(given, 'lastPosition', 'floor')),
  )

  readonly #page = defineQuery((given: QueryValues<{ after: number; limit: number }>) => {
    const { build, columns, dialect } = this.#context
    const position = outboxPosition(this.#context)
    const events = selectEvents(this.#context)
      .select(dialect.number(position).as('sortKey'))
      .where(position, '>', given('after'))
      .orderBy(position)
      .limit(given('limit'))
    return build
      .selectFrom('outbox')
      .leftJoin(events.as('page'), (join) => join.onTrue())
      .select([columns.number('outbox.floor').as('floor'), newestPosition(this.#context), 'page.sortKey'])
      .select(EVENT_FIELDS.map((field) => `page.${field}` as const))
      .where('outbox.only', '=', sql.lit(1)) // without it PostgreSQL expects many rows, and compiles the query
      .orderBy('page.sortKey')
      .$castTo<FloorAndEvent>()
  })

  readonly #newest = defineQuery(
    (_: QueryValues<unknown>) => this.#context.build.selectFrom('outbox').select(newestPosition(this.#context)),
    { asWritten: true },
  )

  /** Not a locking read, which would wait for every open transaction that has written an event. */
  readonly #unnumbered = defineQuery(
    (given: QueryValues<{ limit: number }>) =>
      this.#context.build
        .selectFrom('events')
        .select(fieldsOf(this.#context, 'events').read('id'))
        .where('position', 'is', null)
        .orderBy('events.id')
        .limit(given('limit')),
    { asWritten: true },
  )

  readonly #number: Query<{ readonly ids: readonly Id[]; readonly last: number }, unknown> | undefined

  constructor(context: SqlContext, runtime: SqlRuntime<Tx>) {
    const { numberEvents } = context.dialect
    this.#context = context
    this.#runtime = runtime
    this.#number =
      numberEvents &&
      defineQuery((given) =>
        numberEvents(
          context.build,
          given('ids').as((ids) => JSON.stringify(ids)),
          given('last'),
        ),
      )
  }

  /**
   * Reads one page. @throws ForgeError `INVALID_INPUT` if the cursor is invalid; `EVENTS_PRUNED` if it is below the
   * floor; `CURSOR_AHEAD` if it is beyond the newest position
   */
  *read({ after, limit }: OutboxQuery): SyncOrAsync<OutboxPage> {
    const start = after === undefined ? undefined : outboxPositionOf(after)
    const limits = limitsOfOneCall()
    try {
      yield* this.#numberOldest(limits)
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY')) throw error // what is numbered can be read
    }
    for (;;) {
      const begin = start ?? (yield* this.#floor(limits))
      const rows = yield* this.#rows(this.#page({ after: begin, limit }), limits)
      const { floor, newest } = refuseMissing(rows[0])
      if (start !== undefined) refuseAhead(start, newest)
      if (begin >= floor) return toPage(rows, begin)
      if (start !== undefined) throw eventsPruned(cursorOf(floor))
    }
  }

  /** Numbers all events that were committed when it began. */
  *catchUp(): SyncOrAsync<void> {
    while ((yield* this.#numberOldest(limitsOfOneCall())) === MAX_NUMBERED_EVENTS);
  }

  /** Locks the row until the end of the transaction, and then runs another query. */
  *lock<Next>(
    session: Session,
    next: readonly [] | readonly [Statement<Next>] = [],
  ): SyncOrAsync<{ readonly state: OutboxState; readonly rows: readonly Next[] }> {
    const [, [state], rows = []] = yield* queryEach<[unknown, OutboxState, ...Next[]]>(session, [
      this.#lock({}),
      this.#find({}),
      ...next,
    ])
    return { state: refuseMissing(state), rows }
  }

  /** Returns the statement that reads the newest position. */
  newest(): Statement<Newest> {
    return this.#newest({})
  }

  /** Returns the statement that writes the locked row. */
  saving(state: OutboxState): Statement<unknown> {
    return this.#save(state)
  }

  *#floor(limits: CallLimits): SyncOrAsync<number> {
    const [row] = yield* this.#rows(this.#find({}), limits)
    return refuseMissing(row).floor
  }

  #rows<Found>(statement: Statement<Found>, limits: CallLimits): SyncOrAsync<readonly Found[]> {
    return wait(this.#runtime.read((session) => session.all(statement), undefined, limits))
  }

  /** Numbers the oldest committed events, and returns how many. Waits for another transaction that is numbering. */
  *#numberOldest(limits: CallLimits): SyncOrAsync<number> {
    const number = this.#number
    if (number === undefined) return 0

    const due = yield* this.#rows(this.#unnumbered({ limit: 1 }), limits)
    if (due.length === 0) return 0
    const outbox = this
    return yield* wait(
      this.#runtime.write(
        function* (session) {
          const { state, rows } = yield* outbox.lock(session, [outbox.#unnumbered({ limit: MAX_NUMBERED_EVENTS })])
          if (rows.length === 0) return 0
          const numbered = number({ ids: rows.map((row) => row.id), last: state.lastPosition })
          yield* queryEach(session, [
            numbered,
            outbox.saving({ ...state, lastPosition: state.lastPosition + rows.length }),
          ])
          return rows.length
        },
        { limits },
      ),
    )
  }
}

function toPage(rows: readonly FloorAndEvent[], after: number): OutboxPage {
  const found = rows.flatMap(({ floor: _, newest: __, ...row }) => (row.sortKey === null ? [] : [row]))
  return {
    events: found.map(({ sortKey: _, ...row }) => toEvent(row)),
    cursor: cursorOf(found.at(-1)?.sortKey ?? after),
  }
}

/** Refuses a position beyond the newest: its cursor is that of a state that the database no longer has. */
export function refuseAhead(position: number, newest: number): void {
  if (position > newest) throw cursorAhead(cursorOf(newest))
}

/** Selects the newest position: where ids are the positions, the row of the outbox does not have it. */
function newestPosition({ build, columns, dialect }: SqlContext): AliasedRawBuilder<number, 'newest'> {
  if (dialect.outboxOrder === 'position') return columns.number('outbox.last_position').as('newest')
  const last = build.selectFrom('events').select(({ fn }) => fn.max('events.id').as('id'))
  return sql<number>`max(${sql.ref('outbox.floor')}, coalesce(${last}, 0))`.as('newest')
}

/**
 * Returns the position that a cursor of the outbox names. Positions of the outbox count upwards from zero; those of the audit
 * view are negative.
 */
export function outboxPositionOf(cursor: string): number {
  const position = positionIn(cursor)
  if (position < 0) throw invalidCursor()
  return position
}

function refuseMissing<State>(row: State | undefined): State {
  if (row !== undefined) return row
  throw new ForgeError('STORAGE_UNAVAILABLE', 'the outbox has lost its row', { outcome: 'nothing-done' })
}
