import type { AliasedRawBuilder } from 'kysely'
import type { HostThing } from '../../../schema/errors.ts'
import { notFound } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Columns } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { execute, queryFirst } from '../session.ts'
import type { HeadScope } from '../tables.ts'

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

/** A row of an aggregate's list beside the head. If the list, or the requested part of it, is empty, only the head. */
export type RowBesideHead<Row> = { readonly [Column in keyof Row]: Row[Column] | null } & {
  readonly total: number
  readonly retired: number
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
    this.#lock = lockQuery(context)
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

  /** Returns a head without locking it. The head of an aggregate that does not exist yet is all zero. */
  *find(session: Session, key: HeadKey): SyncOrAsync<Head> {
    const row = yield* queryFirst(session, this.#find(key))
    return toHead(key, row)
  }

  /** Writes a locked head. It raises the version, which makes an isolated transaction of the host detect the change. */
  *save(session: Session, head: Head): SyncOrAsync<void> {
    yield* execute(session, this.#save(head))
  }
}

/** Throws if a head is retired. @throws ForgeError the thing's `*_NOT_FOUND` if the head is retired */
export function refuseRetired(head: Pick<Head, 'retired'>, thing: HostThing): void {
  if (head.retired) throw notFound(thing)
}

/** Returns the columns of a head that are selected beside the rows of its list. */
export function columnsBesideRows(
  columns: Columns,
): readonly [AliasedRawBuilder<number, 'total'>, AliasedRawBuilder<number, 'retired'>] {
  return [columns.number('heads.total').as('total'), columns.number('heads.retired').as('retired')]
}

/**
 * Splits the result of one statement into the head and the rows of its list. Both come from one snapshot, in whatever
 * transaction the statement ran.
 *
 * @param column - a column that is null in no row of the list
 */
export function splitHead<Row>(
  found: readonly RowBesideHead<Row>[],
  column: keyof Row,
): { readonly rows: readonly Row[]; readonly total: number; readonly retired: boolean } {
  const [first] = found
  const rows = found.filter((row): row is RowBesideHead<Row> & Row => row[column] !== null)
  return { rows, total: first?.total ?? 0, retired: first !== undefined && first.retired !== 0 }
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
