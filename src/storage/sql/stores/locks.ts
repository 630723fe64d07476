import type { RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { References, Referred } from '../host/references.ts'
import type { QueryValues, Statement } from '../query.ts'
import { rowsOf } from '../query.ts'
import type { HeadScope } from '../schema/tables.ts'
import { HEAD_SCOPES } from '../schema/tables.ts'
import type { AtOnceSession, RowsOfEach, Session, Statements } from '../session.ts'
import { query, queryEachAfter, rowsOfEach } from '../session.ts'
import type { Head, HeadKey, HeadQueries, HeadRow } from './head-queries.ts'
import { headQueries } from './head-queries.ts'

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
  readonly #queries: HeadQueries

  constructor(context: SqlContext, references: References) {
    this.#context = context
    this.#references = references
    this.#queries = headQueries(context)
  }

  /** Returns the key of the head of a thing. @throws TypeError if the id does not fit its column */
  of(scope: Exclude<HeadScope, 'catalogue'>, id: Id): HeadKey {
    return { scope, key: this.#context.ids.fitting(HEAD_SCOPES[scope], id) }
  }

  /** Returns the statement that reads a head without locking it. */
  finding(key: HeadKey): Statement<unknown> {
    return this.#queries.find(key)
  }

  /** Returns a head without locking it. The head of an aggregate that does not exist yet is all zero. */
  find(session: Session, key: HeadKey): MaybePromise<Head> {
    return after(session.first(this.#queries.find(key)), (row) => toHead(key, row))
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
      const check: Statement<unknown> = isKnown ? this.#references.finding(needed) : this.#queries.find(key)
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

  /** Returns the statements that lock heads. */
  locking(keys: readonly HeadKey[]): readonly Statement<unknown>[] {
    return keys.map(this.#queries.lock)
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
    const [locked, rows] = yield* queryEachAfter(session, keys.map(this.#queries.lock), loading)
    return { heads: keys.map((key, index) => toHead(key, locked[index]?.[0])), rows }
  }

  /** Reads heads and what they guard as they are at one moment, without a lock; undefined if the session cannot. */
  *read<Rows extends readonly unknown[]>(
    session: AtOnceSession,
    keys: readonly HeadKey[],
    loading: Statements<Rows>,
  ): SyncOrAsync<LoadedHeads<Rows> | undefined> {
    const all = yield* wait(session.readAtOnce([...keys.map(this.#queries.find), ...loading]))
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

  /** Writes a locked head. It raises the version, which makes an isolated transaction of the host detect the change. */
  saving(head: Head): Statement<unknown> {
    return this.#queries.save(head)
  }

  /** Writes a head that was read, and locks it thereby. It needs the version that was read. */
  savingUnchanged(head: Head): Statement<unknown> {
    return this.#queries.saveUnchanged(head)
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
