import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { Columns } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { IdCodec } from '../ids.ts'
import type { Query, QueryValues, Statement } from '../query.ts'
import { defineQuery, takesLock } from '../query.ts'
import type { HeadScope } from '../schema/tables.ts'
import { HEAD_SCOPES } from '../schema/tables.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { query, queryEach, queryEachAfter, queryFirst } from '../session.ts'

/** Identifies one head. */
export interface HeadKey {
  readonly scope: HeadScope
  readonly key: string
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
export interface FoundAggregates<Key> {
  readonly headOf: (key: Key) => HeadKey
  /** Aggregates of the same scope to lock whether or not the query finds them. */
  readonly known?: readonly Key[]
  /** Heads to lock behind those that are found first. */
  readonly last?: readonly HeadKey[]
}

/** A locked aggregate. */
export interface LockedAggregate<Key> {
  readonly key: Key
  readonly head: Head
}

/**
 * The head rows: one per aggregate. A head is locked before anything else of the aggregate is read. Where a transaction
 * that writes has the one write lock of the database, a head is only read, and created when it is saved.
 */
export class Heads {
  readonly #ids: IdCodec
  readonly #find: Query<HeadKey, HeadRow>
  readonly #lock: Query<HeadKey, HeadRow>
  readonly #save: Query<Head, unknown>
  readonly #locksRows: boolean

  constructor(context: SqlContext) {
    const lock = lockQuery(context)
    this.#ids = context.ids
    this.#find = findQuery(context)
    this.#lock = lock === undefined ? this.#find : takesLock(lock)
    this.#locksRows = lock !== undefined
    this.#save = lock === undefined ? saveOrCreateQuery(context) : saveQuery(context)
  }

  /** Returns the key of the head of a thing. @throws TypeError if the id does not fit its column */
  of(scope: Exclude<HeadScope, 'catalogue'>, id: Id): HeadKey {
    return { scope, key: this.#ids.fitting(HEAD_SCOPES[scope], id) }
  }

  /** Returns a head without locking it. The head of an aggregate that does not exist yet is all zero. */
  find(session: Session, key: HeadKey): MaybePromise<Head> {
    return after(session.first(this.#find(key)), (row) => toHead(key, row))
  }

  /** Locks a head until the end of the transaction. Load what it guards in a later statement. */
  *lock(session: Session, key: HeadKey): SyncOrAsync<Head> {
    return toHead(key, yield* queryFirst(session, this.#lock(key)))
  }

  /** Returns the statements that only lock heads, where rows are locked. */
  locking(keys: readonly HeadKey[]): readonly Statement<unknown>[] {
    return this.#locksRows ? keys.map(this.#lock) : []
  }

  /** Locks heads in the given order, which must be the global order of locks. */
  *lockEach(session: Session, keys: readonly HeadKey[]): SyncOrAsync<readonly Head[]> {
    const rows = yield* queryEach<readonly HeadRow[]>(session, keys.map(this.#lock))
    return keys.map((key, index) => toHead(key, rows[index]?.[0]))
  }

  /**
   * Locks the heads of a change in the global order of locks, and then loads what they guard. Returns the last head.
   * @throws ForgeError `*_NOT_FOUND` if one is retired
   */
  *lockThenLoad<Rows extends readonly unknown[]>(
    session: Session,
    keys: readonly HeadKey[],
    loading: Statements<Rows>,
  ): SyncOrAsync<{ readonly head: Head; readonly rows: RowsOfEach<Rows> }> {
    const [locked, rows] = yield* queryEachAfter(session, keys.map(this.#lock), loading)
    const heads = keys.map((key, index) => toHead(key, locked[index]?.[0]))
    for (const head of heads) refuseRetired(head)
    const head = heads.at(-1)
    if (head === undefined) throw new Error('a change locks at least one head')
    return { head, rows }
  }

  /**
   * Locks the aggregates that a query finds. It queries twice, because aggregates may be added until everything before
   * them in the order of locks is locked. The first query locks no row: rows are locked after their heads.
   */
  *lockFound<Key>(
    session: Session,
    found: Statement<Key>,
    { headOf, known = [], last = [] }: FoundAggregates<Key>,
  ): SyncOrAsync<readonly LockedAggregate<Key>[]> {
    const first = inOrder([...known, ...(yield* query(session, { asWritten: true, ...found }))], headOf)
    const locks = [...first.map(headOf), ...last].map(this.#lock)
    const [rows, [again]] = yield* queryEachAfter<HeadRow, [Key]>(session, locks, [found])

    const names = new Set(first.map((key) => headOf(key).key))
    const late = inOrder(again, headOf).filter((key) => !names.has(headOf(key).key))
    const lateRows =
      late.length === 0 ? [] : yield* queryEach<readonly HeadRow[]>(session, late.map(headOf).map(this.#lock))
    const all = [...rows.slice(0, first.length), ...lateRows]
    return [...first, ...late].map((key, index) => ({ key, head: toHead(headOf(key), all[index]?.[0]) }))
  }

  /** Writes a locked head. It raises the version, which makes an isolated transaction of the host detect the change. */
  saving(head: Head): Statement<unknown> {
    return this.#save(head)
  }
}

/** Throws if a head is retired. @throws ForgeError the `*_NOT_FOUND` of the thing that the head belongs to */
export function refuseRetired({ scope, retired }: Pick<Head, 'scope' | 'retired'>): void {
  const thing = HEAD_SCOPES[scope]
  if (retired && thing !== undefined) throw notFound(thing)
}

/** Returns each aggregate once, in the global order of locks among heads of one scope. */
function inOrder<Key>(keys: readonly Key[], headOf: (key: Key) => HeadKey): readonly Key[] {
  const byName = new Map(keys.map((key) => [headOf(key).key, key]))
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, key]) => key)
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
  return defineQuery((given) =>
    build
      .selectFrom('heads')
      .select(headColumns(columns))
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key')),
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
