import { sql } from 'kysely'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { EventStore } from '../../contract/events.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session, SqlRuntime } from '../session.ts'
import { query, queryEach } from '../session.ts'
import type { Outbox } from './outbox.ts'
import { outboxPositionOf, refuseAhead } from './outbox.ts'
import { cursorOf } from './pages.ts'

/** The row of a name, and the current time. Times are milliseconds since 1970, by the database's clock. */
type ConsumerRow = Omit<Row<'consumers'>, 'name'> & { readonly now: number }

/** Identifies one consumer. */
interface ConsumerName {
  readonly name: string
}

/**
 * Creates the consumers of the outbox: their names, with cursors and leases. A name's row is locked before it is read. The
 * row of the outbox is locked before a new name is created, so that no name begins below a floor that is being moved.
 * Only the clock of the database decides about leases.
 */
export function sqlConsumers<Tx>(
  context: SqlContext,
  runtime: SqlRuntime<Tx>,
  outbox: Outbox<Tx>,
): Pick<EventStore<Tx>, 'claim' | 'advance' | 'release' | 'forget'> {
  const { build, dialect } = context
  const fields = fieldsOf(context, 'consumers')
  const byName = <P extends ConsumerName>(given: QueryValues<P>) =>
    build.updateTable('consumers').where(fields.are<P, 'name'>(given, 'name'))

  /** Locks the row if it exists. */
  const locking = defineQuery(
    (given: QueryValues<ConsumerName>) => byName(given).set((row) => ({ position: row.ref('position') })),
    { takesLock: true },
  )

  const find = defineQuery((given: QueryValues<ConsumerName>) =>
    build
      .selectFrom('consumers')
      .select([...fields.read('position', 'holder', 'until'), dialect.number(dialect.now).as('now')])
      .where(fields.are(given, 'name')),
  )

  const insert = defineQuery((given: QueryValues<ConsumerName & { position: number }>) =>
    build.insertInto('consumers').values({ name: given('name'), position: given('position'), holder: null, until: 0 }),
  )

  const lease = defineQuery((given: QueryValues<ConsumerName & { holder: string; milliseconds: number }>) =>
    byName(given).set({ holder: given('holder'), until: sql<number>`${dialect.now} + ${given('milliseconds')}` }),
  )

  const move = defineQuery((given: QueryValues<ConsumerName & { position: number }>) =>
    byName(given).set(fields.written(given, 'position')),
  )

  const giveUp = defineQuery((given: QueryValues<ConsumerName & { holder: string }>) =>
    byName(given).set({ holder: null, until: 0 }).where('holder', '=', given('holder')),
  )

  /** Returns the row if it existed. */
  const remove = defineQuery((given: QueryValues<ConsumerName>) =>
    build.deleteFrom('consumers').where(fields.are(given, 'name')).returning('name'),
  )

  function* lock(session: Session, name: string): SyncOrAsync<ConsumerRow | undefined> {
    const [, [row]] = yield* queryEach<[unknown, ConsumerRow]>(session, [locking({ name }), find({ name })])
    return row
  }

  function* add(session: Session, name: string): SyncOrAsync<ConsumerRow> {
    const { state } = yield* outbox.lock(session)
    const added = yield* lock(session, name) // added while we waited for the outbox
    if (added !== undefined) return added

    // A real change, which a prune on another node of a cluster sees: it must not move the floor meanwhile.
    const moved = outbox.saving({ ...state, floor: state.floor + 1 })
    yield* queryEach(session, [moved, outbox.saving(state), insert({ name, position: state.floor })])
    return { position: state.floor, holder: null, until: 0, now: 0 }
  }

  return {
    claim: ({ name, holder }, milliseconds) =>
      runtime.write(function* (session) {
        const row = (yield* lock(session, name)) ?? (yield* add(session, name))
        if (isLeased(row) && row.holder !== holder) return undefined

        yield* query(session, lease({ name, holder, milliseconds }))
        return { cursor: cursorOf(row.position) }
      }, {}),

    advance: ({ name, holder }, cursor) =>
      runtime.write(function* (session) {
        const position = outboxPositionOf(cursor)
        const statements = [locking({ name }), find({ name }), outbox.newest()] as const
        const [, [row], [newest]] = yield* queryEach<[unknown, ConsumerRow, { newest: number }]>(session, statements)
        if (row === undefined || !isLeased(row) || row.holder !== holder) return false

        refuseAhead(position, newest?.newest ?? 0)
        // Never back: pruning reads the cursors without locking them.
        if (position > row.position) yield* query(session, move({ name, position }))
        return true
      }, {}),

    release: ({ name, holder }) =>
      runtime.write(function* (session) {
        yield* query(session, giveUp({ name, holder }))
      }, {}),

    forget: (name) =>
      runtime.write(function* (session) {
        return (yield* query(session, remove({ name }))).length > 0
      }, {}),
  }
}

function isLeased({ holder, until, now }: ConsumerRow): boolean {
  return holder !== null && until > now
}
