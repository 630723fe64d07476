import { notFound } from '../../../schema/errors.ts'
import type { HostThing } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { Columns } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query, QueryValues, Statement } from '../query.ts'
import { defineQuery, takesLock } from '../query.ts'
import type { HeadScope } from '../schema/tables.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { defer, query, queryEachAfter, queryFirst } from '../session.ts'

/** Identifies one head. */
export interface HeadKey {
  readonly scope: HeadScope
  readonly key: string
}

/** A head that a change locks, and the thing that must not be retired. */
export interface Lock {
  readonly head: HeadKey
  /** Undefined if the aggregate is never retired. */
  readonly thing?: HostThing | undefined
}

/** The row that locks one aggregate, and what the aggregate keeps beside its rows. */
export interface Head extends HeadKey {
  readonly epoch: number
  readonly retired: boolean
  /** The number of rows in the aggregate's list. */
  readonly total: number
  /** The next place in the aggregate's list. */
  readonly nextSeq: number
}

interface HeadRow {
  readonly epoch: number
  readonly retired: number
  readonly total: number
  readonly next_seq: number
}

/** How aggregates that a query finds are locked. */
export interface FoundAggregates<Key, Row> {
  readonly headOf: (key: Key) => HeadKey
  /** The statement that loads one. Undefined if nothing is loaded. */
  readonly load?: (key: Key) => Statement<Row>
  /** Aggregates of the same scope to lock whether or not the query finds them. */
  readonly known?: readonly Key[]
  /** Heads to lock behind those that are found first. */
  readonly last?: readonly HeadKey[]
}

/** An aggregate to lock. */
interface WantedAggregate<Key> {
  readonly key: Key
  readonly head: HeadKey
}

/** A locked aggregate, and what was loaded of it. */
export interface LockedAggregate<Key, Row> {
  readonly key: Key
  readonly head: Head
  readonly rows: readonly Row[]
}

/**
 * The head rows: one per aggregate. A head is locked before anything else of the aggregate is read. Where a transaction
 * that writes has the one write lock of the database, a head is only read, and created when it is saved.
 */
export class Heads {
  readonly #lock: Query<HeadKey, HeadRow>
  readonly #locksRows: boolean
  readonly #find: Query<HeadKey, HeadRow>
  readonly #save: Query<Head, unknown>

  constructor(context: SqlContext) {
    const lock = lockQuery(context)
    this.#find = findQuery(context)
    this.#lock = lock === undefined ? this.#find : takesLock(lock)
    this.#locksRows = lock !== undefined
    this.#save = lock === undefined ? saveOrCreateQuery(context) : saveQuery(context)
  }

  /** Locks a head until the end of the transaction. Load what it guards in a later statement. */
  *lock(session: Session, key: HeadKey): SyncOrAsync<Head> {
    const row = yield* queryFirst(session, this.#lock(key))
    return toHead(key, row)
  }

  /** Locks heads in the given order, which must be the global order of locks, and then runs other statements. */
  *lockEach<Rows extends readonly unknown[]>(
    session: Session,
    keys: readonly HeadKey[],
    rest: Statements<Rows>,
  ): SyncOrAsync<{ readonly heads: readonly Head[]; readonly rows: RowsOfEach<Rows> }> {
    const [locked, rows] = yield* queryEachAfter(session, keys.map(this.#lock), rest)
    return { heads: keys.map((key, index) => toHead(key, locked[index]?.[0])), rows }
  }

  /**
   * Locks the heads of a change, and then loads what they guard. Returns the last head.
   * @throws ForgeError `*_NOT_FOUND` if one is retired
   */
  *lockThenLoad<Rows extends readonly unknown[]>(
    session: Session,
    locks: readonly Lock[],
    loading: Statements<Rows>,
  ): SyncOrAsync<{ readonly head: Head; readonly rows: RowsOfEach<Rows> }> {
    const { heads, rows } = yield* this.lockEach(session, locks.map(toHeadKey), loading)
    for (const [index, { thing }] of locks.entries()) {
      const head = heads[index]
      if (head !== undefined && thing !== undefined) refuseRetired(head, thing)
    }
    const head = heads.at(-1)
    if (head === undefined) throw new Error('a change locks at least one head')
    return { head, rows }
  }

  /**
   * Locks the aggregates that a query finds, and loads them. It queries twice, because aggregates may be added until
   * everything before them in the order of locks is locked. The first query locks no row: rows are locked after their
   * heads.
   */
  *lockFound<Key, Row = never>(
    session: Session,
    found: Statement<Key>,
    { headOf, load, known = [], last = [] }: FoundAggregates<Key, Row>,
  ): SyncOrAsync<readonly LockedAggregate<Key, Row>[]> {
    const first = inOrder([...known, ...(yield* query(session, { asWritten: true, ...found }))], headOf)
    const loading: readonly Statement<Row>[] = load === undefined ? [] : first.map(({ key }) => load(key))
    const keys = [...first.map(toHeadKey), ...last]
    const { heads, rows } = yield* this.lockEach<[Key, ...Row[]]>(session, keys, [found, ...loading])
    const [again, ...loaded] = rows

    const names = new Set(first.map(({ head }) => head.key))
    const late = inOrder(again, headOf).filter(({ head }) => !names.has(head.key))
    return [...locked(first, heads, loaded), ...(yield* this.#lockLate(session, late, load))]
  }

  *#lockLate<Key, Row>(
    session: Session,
    late: readonly WantedAggregate<Key>[],
    load: FoundAggregates<Key, Row>['load'],
  ): SyncOrAsync<readonly LockedAggregate<Key, Row>[]> {
    if (late.length === 0) return []

    const loading: readonly Statement<Row>[] = load === undefined ? [] : late.map(({ key }) => load(key))
    const { heads, rows } = yield* this.lockEach<readonly Row[]>(session, late.map(toHeadKey), loading)
    return locked(late, heads, rows)
  }

  /** Locks a head, together with the next query. */
  *lockSoon(session: Session, key: HeadKey): SyncOrAsync<void> {
    if (this.#locksRows) yield* defer(session, this.#lock(key))
  }

  /** Returns a head without locking it. The head of an aggregate that does not exist yet is all zero. */
  find(session: Session, key: HeadKey): MaybePromise<Head> {
    return after(session.first(this.#find(key)), (row) => toHead(key, row))
  }

  /** Writes a locked head. It raises the version, which makes an isolated transaction of the host detect the change. */
  save(session: Session, head: Head): SyncOrAsync<void> {
    return defer(session, this.#save(head))
  }
}

/** Throws if a head is retired. @throws ForgeError the thing's `*_NOT_FOUND` if the head is retired */
export function refuseRetired(head: Pick<Head, 'retired'>, thing: HostThing): void {
  if (head.retired) throw notFound(thing)
}

function toHeadKey({ head }: { readonly head: HeadKey }): HeadKey {
  return head
}

/** Returns each aggregate once, in the global order of locks among heads of one scope. */
function inOrder<Key>(keys: readonly Key[], headOf: (key: Key) => HeadKey): readonly WantedAggregate<Key>[] {
  const wanted = new Map(keys.map((key) => [headOf(key).key, { key, head: headOf(key) }]))
  return [...wanted.values()].sort((one, other) => (one.head.key < other.head.key ? -1 : 1))
}

function locked<Key, Row>(
  wanted: readonly WantedAggregate<Key>[],
  heads: readonly Head[],
  rows: readonly (readonly Row[])[],
): readonly LockedAggregate<Key, Row>[] {
  return wanted.flatMap(({ key }, index) => {
    const head = heads[index]
    return head === undefined ? [] : [{ key, head, rows: rows[index] ?? [] }]
  })
}

function toHead({ scope, key }: HeadKey, row: HeadRow | undefined): Head {
  if (row === undefined) return { scope, key, epoch: 0, retired: false, total: 0, nextSeq: 1 }

  return { scope, key, epoch: row.epoch, retired: row.retired !== 0, total: row.total, nextSeq: row.next_seq }
}

function headColumns(columns: Columns) {
  return [
    columns.number('epoch').as('epoch'),
    columns.number('retired').as('retired'),
    columns.number('total').as('total'),
    columns.number('next_seq').as('next_seq'),
  ] as const
}

function lockQuery({ build, dialect, columns }: SqlContext): Query<HeadKey, HeadRow> | undefined {
  const { lockExisting } = dialect
  if (lockExisting === undefined) return undefined

  return defineQuery((given) => {
    const fresh = { scope: given('scope'), key: given('key'), version: 0, epoch: 0, retired: 0, total: 0, next_seq: 1 }
    return lockExisting(build.insertInto('heads').values(fresh)).returning(headColumns(columns))
  })
}

function findQuery({ build, columns }: SqlContext): Query<HeadKey, HeadRow> {
  return defineQuery(
    (given) =>
      build
        .selectFrom('heads')
        .select(headColumns(columns))
        .where('scope', '=', given('scope'))
        .where('key', '=', given('key')),
    'at most one',
  )
}

function saveQuery({ build }: SqlContext): Query<Head, unknown> {
  return defineQuery((given) =>
    build
      .updateTable('heads')
      .set((row) => ({ version: row('version', '+', 1), ...savedValues(given) }))
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key')),
  )
}

function saveOrCreateQuery({ build }: SqlContext): Query<Head, unknown> {
  return defineQuery((given) =>
    build
      .insertInto('heads')
      .values({ scope: given('scope'), key: given('key'), version: 1, ...savedValues(given) })
      .onConflict((conflict) =>
        conflict.columns(['scope', 'key']).doUpdateSet((row) => ({
          version: row('heads.version', '+', 1),
          epoch: row.ref('excluded.epoch'),
          retired: row.ref('excluded.retired'),
          total: row.ref('excluded.total'),
          next_seq: row.ref('excluded.next_seq'),
        })),
      ),
  )
}

function savedValues(given: QueryValues<Head>) {
  return {
    epoch: given('epoch'),
    retired: given('retired').as((retired) => (retired ? 1 : 0)),
    total: given('total'),
    next_seq: given('nextSeq'),
  }
}
