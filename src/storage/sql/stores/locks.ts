import type { HostThing } from '../../../schema/errors.ts'
import { notFound } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Columns } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery, takesLock } from '../query.ts'
import type { RowsOfEach, Session, Statements } from '../session.ts'
import { defer, queryEachAfter, queryFirst } from '../session.ts'
import type { HeadScope } from '../tables.ts'

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

/** The head rows: one per aggregate. A head is locked before anything else of the aggregate is read. */
export class Heads {
  readonly #lock: Query<HeadKey, HeadRow>
  readonly #find: Query<HeadKey, HeadRow>
  readonly #save: Query<Head, unknown>

  constructor(context: SqlContext) {
    this.#lock = takesLock(lockQuery(context))
    this.#find = findQuery(context)
    this.#save = saveQuery(context)
  }

  /**
   * Locks a head until the end of the transaction, and creates it if it does not exist. Load what it guards in a later
   * statement.
   */
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

  /** Locks a head, together with the next query. */
  *lockSoon(session: Session, key: HeadKey): SyncOrAsync<void> {
    yield* defer(session, this.#lock(key))
  }

  /** Returns a head without locking it. The head of an aggregate that does not exist yet is all zero. */
  *find(session: Session, key: HeadKey): SyncOrAsync<Head> {
    const row = yield* queryFirst(session, this.#find(key))
    return toHead(key, row)
  }

  /** Writes a locked head. It raises the version, which makes an isolated transaction of the host detect the change. */
  *save(session: Session, head: Head): SyncOrAsync<void> {
    yield* defer(session, this.#save(head))
  }
}

/** Throws if a head is retired. @throws ForgeError the thing's `*_NOT_FOUND` if the head is retired */
export function refuseRetired(head: Pick<Head, 'retired'>, thing: HostThing): void {
  if (head.retired) throw notFound(thing)
}

function toHeadKey({ head }: Lock): HeadKey {
  return head
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

function lockQuery({ build, dialect, columns }: SqlContext): Query<HeadKey, HeadRow> {
  return defineQuery((given) => {
    const fresh = { scope: given('scope'), key: given('key'), version: 0, epoch: 0, retired: 0, total: 0, next_seq: 1 }
    return dialect.lockExisting(build.insertInto('heads').values(fresh)).returning(headColumns(columns))
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
      .set((row) => ({
        version: row('version', '+', 1),
        epoch: given('epoch'),
        retired: given('retired').as((retired) => (retired ? 1 : 0)),
        total: given('total'),
        next_seq: given('nextSeq'),
      }))
      .where('scope', '=', given('scope'))
      .where('key', '=', given('key')),
  )
}
