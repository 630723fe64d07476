import type { InsertQueryBuilder, InsertResult, RawBuilder, SqlBool, UpdateQueryBuilder, UpdateResult } from 'kysely'
import { sql } from 'kysely'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { References, Referred } from '../host/references.ts'
import type { Query, QueryValues, Statement } from '../query.ts'
import { defineQuery, rowsOf } from '../query.ts'
import type { HeadScope, Tables } from '../schema/tables.ts'
import { HEAD_SCOPES } from '../schema/tables.ts'
import type { AtOnceSession, RowsOfEach, Session, Statements } from '../session.ts'
import { query, queryEachAfter, rowsOfEach } from '../session.ts'

/** Identifies one head. */
export interface HeadKey {
  readonly scope: HeadScope
  readonly key: string
}

/** The row that locks one aggregate, and what the aggregate keeps beside its rows. */
export interface Head extends HeadKey {
  /** How often it was written. */
  readonly version: number
  readonly epoch: number
  readonly retired: boolean
  /** The number of rows in the aggregate's list. */
  readonly total: number
  /** The next position in the aggregate's list. */
  readonly nextSeq: number
}

/** A head as the statements return it. */
type HeadRow = Pick<Row<'heads'>, (typeof STATE)[number]>

/** What a head has beside its key. */
const STATE = ['version', 'epoch', 'retired', 'total', 'nextSeq'] as const

/** How the heads of aggregates that a query finds are locked. */
interface FoundAggregates<Row> {
  readonly headOf: (row: Row) => HeadKey
  /** Heads to lock whether or not the query finds their aggregates. */
  readonly known?: readonly HeadKey[]
  /** Heads to lock behind those that are found first. */
  readonly last?: readonly HeadKey[]
}

/** What was locked or read, and the rows that were loaded behind it. */
export interface LoadedHeads<Rows extends readonly unknown[]> {
  readonly heads: readonly Head[]
  readonly rows: RowsOfEach<Rows>
}

/**
 * The head rows: one per aggregate. A head is locked before anything else of the aggregate is read. Where a transaction
 * that writes has the one write lock of the database, a head is only read, and created when it is saved.
 */
export class Heads {
  readonly #context: SqlContext
  readonly #references: References
  /** Reads a head without locking it. */
  readonly finding: Query<HeadKey, HeadRow>
  /** Locks a head, and creates it if it is missing; only finds it where a transaction that writes has the one write lock. */
  readonly locking: Query<HeadKey, HeadRow>
  /** Writes a locked head. It raises the version, which makes an isolated transaction of the host detect the change. */
  readonly saving: Query<Head, unknown>
  /** Writes a head that was read, and locks it thereby. It needs the version that was read. */
  readonly savingUnchanged: Query<Head, unknown>

  constructor(context: SqlContext, references: References) {
    this.#context = context
    this.#references = references
    this.finding = defineQuery((given: QueryValues<HeadKey>) => {
      const fields = fieldsOf(context, 'heads')
      return context.build
        .selectFrom('heads')
        .select(fields.read(...STATE))
        .where(fields.are(given, 'scope', 'key'))
    })
    const lock = lockQuery(context)
    this.locking = lock ?? this.finding
    this.saving = defineQuery((given: QueryValues<Head>) => (lock ? save : saveOrCreate)(context, given))
    this.savingUnchanged = saveUnchangedQuery(context)
  }

  /** Returns the key of the head of a thing. @throws TypeError if the id does not fit its column */
  of(scope: Exclude<HeadScope, 'catalogue'>, id: Id): HeadKey {
    return { scope, key: this.#context.ids.fitting(HEAD_SCOPES[scope], id) }
  }

  /** Returns a head without locking it. The head of an aggregate that does not exist yet is all zero. */
  find(session: Session, key: HeadKey): MaybePromise<Head> {
    return after(session.first(this.finding(key)), (row) => toHead(key, row))
  }

  /**
   * Returns the rows of an aggregate. One that is retired, or whose thing the host has deleted, has none, so only one
   * without rows is checked.
   *
   * @throws ForgeError `*_NOT_FOUND` if it is retired, or the thing does not exist
   */
  unlessRetired<R>(session: Session, key: HeadKey, rows: Statement<R>): MaybePromise<readonly R[]> {
    return after(session.all(rows), (found) => {
      if (found.length > 0) return found
      const needed = this.#hostRowOf(key)
      const isKnown = needed.length > 0
      const check: Statement<unknown> = isKnown ? this.#references.finding(needed) : this.finding(key)
      return after(session.all(check), (answer) => {
        if (isKnown) this.#references.refuseMissing(needed, answer)
        else this.refuseRetired(toHead(key, rowsOf<HeadRow>(answer)[0]))
        return found
      })
    })
  }

  /**
   * Throws if a head is retired. Where the storage sees in a table of the host whether a thing exists, a head is not asked:
   * the host may give the id to another thing.
   *
   * @throws ForgeError the `*_NOT_FOUND` of the thing that the head belongs to
   */
  refuseRetired({ scope, retired }: Pick<Head, 'scope' | 'retired'>): void {
    const thing = HEAD_SCOPES[scope]
    if (retired && thing !== undefined && !this.#references.has(thing)) throw notFound(thing)
  }

  /** Returns the condition that a head is not retired, for a query that reads something else. */
  isNotRetired<P extends HeadKey>(given: QueryValues<P>): RawBuilder<SqlBool> {
    const key = sql`scope = ${given('scope')} and ${sql.id('key')} = ${given('key')}`
    return sql`not exists (select 1 from ${sql.table('heads')} where ${key} and retired = 1)`
  }

  /**
   * Checks heads by what the statements of `locking` returned. @throws ForgeError `*_NOT_FOUND` if one is retired
   */
  refuseRetiredAmong(keys: readonly HeadKey[], rows: readonly (readonly unknown[])[]): void {
    for (const [index, key] of keys.entries()) this.refuseRetired(toHead(key, rowsOf<HeadRow>(rows[index] ?? [])[0]))
  }

  /**
   * Locks heads until the end of the transaction, in the given order, which must be the global order of locks. Behind them
   * it runs the statements that load what they guard.
   */
  *lock<Rows extends readonly unknown[]>(
    session: Session,
    keys: readonly HeadKey[],
    loading: Statements<Rows>,
  ): SyncOrAsync<LoadedHeads<Rows>> {
    const [locked, rows] = yield* queryEachAfter(session, keys.map(this.locking), loading)
    return { heads: keys.map((key, index) => toHead(key, locked[index]?.[0])), rows }
  }

  /** Reads heads and what they guard as they are at one moment, without a lock; undefined if the session cannot. */
  *read<Rows extends readonly unknown[]>(
    session: AtOnceSession,
    keys: readonly HeadKey[],
    loading: Statements<Rows>,
  ): SyncOrAsync<LoadedHeads<Rows> | undefined> {
    const all = yield* wait(session.readAtOnce([...keys.map(this.finding), ...loading]))
    if (all === undefined) return undefined
    const heads = keys.map((key, index) => toHead(key, rowsOf<HeadRow>(all[index] ?? [])[0]))
    return { heads, rows: rowsOfEach<Rows>(all.slice(keys.length)) }
  }

  /**
   * Locks the aggregates that a query finds. It queries twice, because aggregates may be added until everything before
   * them in the order of locks is locked. The first query locks no row: rows are locked after their heads.
   */
  *lockFound<Row>(
    session: Session,
    aggregates: Statement<Row>,
    { headOf, known = [], last = [] }: FoundAggregates<Row>,
  ): SyncOrAsync<{ readonly found: readonly Head[]; readonly last: readonly Head[] }> {
    const rows = yield* query(session, { ...aggregates, asWritten: true })
    const first = inOrder([...known, ...rows.map(headOf)])
    const locked = yield* this.lock<[Row]>(session, [...first, ...last], [aggregates])

    const names = new Set(first.map(nameOf))
    const late = inOrder(locked.rows[0].map(headOf)).filter((head) => !names.has(nameOf(head)))
    const { heads } = yield* this.lock(session, late, [])
    return { found: [...locked.heads.slice(0, first.length), ...heads], last: locked.heads.slice(first.length) }
  }

  /** The row of the host that a head belongs to, if the storage knows its table. */
  #hostRowOf({ scope, key: id }: HeadKey): readonly Referred[] {
    const thing = HEAD_SCOPES[scope]
    return thing === undefined ? [] : this.#references.known([{ thing, id }])
  }
}

function lockQuery(context: SqlContext): Query<HeadKey, HeadRow> | undefined {
  const { build } = context
  const { lockExisting } = context.dialect
  if (lockExisting === undefined) return undefined

  return defineQuery(
    (given) => {
      const key = { scope: given('scope'), key: given('key') }
      const insert = build
        .insertInto('heads')
        .values({ version: 0, epoch: 0, retired: 0, total: 0, next_seq: 1, ...key })
      return lockExisting(insert).returning(fieldsOf(context, 'heads').read(...STATE))
    },
    { takesLock: true, needs: 'retired = 0' },
  )
}

/** Writes a head that is there. */
function save(
  context: SqlContext,
  given: QueryValues<Head>,
): UpdateQueryBuilder<Tables, 'heads', 'heads', UpdateResult> {
  return context.build
    .updateTable('heads')
    .set((row) => ({ version: row('version', '+', 1), ...savedValues(given) }))
    .where(fieldsOf(context, 'heads').are(given, 'scope', 'key'))
}

/** Writes a head, or creates it. @param isUnchanged - whether one that is there is only written in the version that was read */
function saveOrCreate(
  { build }: SqlContext,
  given: QueryValues<Head>,
  isUnchanged = false,
): InsertQueryBuilder<Tables, 'heads', InsertResult> {
  return build
    .insertInto('heads')
    .values({ scope: given('scope'), key: given('key'), version: 1, ...savedValues(given) })
    .onConflict((conflict) => {
      const update = conflict.columns(['scope', 'key']).doUpdateSet((row) => ({
        version: row('heads.version', '+', 1),
        epoch: row.ref('excluded.epoch'),
        retired: row.ref('excluded.retired'),
        total: row.ref('excluded.total'),
        next_seq: row.ref('excluded.next_seq'),
      }))
      return isUnchanged ? update.where('heads.version', '=', given('version')) : update
    })
}

/** Most heads are there: an update of one costs the server less than an insert that meets it. */
function saveUnchangedQuery(context: SqlContext): Query<Head, unknown> {
  const [saved, marks] = [sql.lit(1).as('saved'), { needs: 'true' }]
  const create = defineQuery((given: QueryValues<Head>) => saveOrCreate(context, given, true).returning(saved), marks)
  const update = defineQuery(
    (given: QueryValues<Head>) => save(context, given).where('version', '=', given('version')).returning(saved),
    marks,
  )
  return (head) => (head.version === 0 ? create(head) : update(head))
}

function savedValues(given: QueryValues<Head>) {
  return {
    epoch: given('epoch'),
    retired: given('retired').as((retired) => (retired ? 1 : 0)),
    total: given('total'),
    next_seq: given('nextSeq'),
  }
}

/** Returns each of these heads once, in the global order of locks. */
function inOrder(keys: readonly HeadKey[]): readonly HeadKey[] {
  const byName = new Map(keys.map((head) => [nameOf(head), head]))
  const scopes = Object.keys(HEAD_SCOPES)
  return [...byName.values()].sort(
    (one, other) => scopes.indexOf(one.scope) - scopes.indexOf(other.scope) || (one.key < other.key ? -1 : 1),
  )
}

function nameOf({ scope, key }: HeadKey): string {
  return `${scope} ${key}`
}

function toHead({ scope, key }: HeadKey, row: HeadRow | undefined): Head {
  const { retired, ...state } = row ?? { version: 0, epoch: 0, retired: 0, total: 0, nextSeq: 1 }
  return { scope, key, retired: retired !== 0, ...state }
}
