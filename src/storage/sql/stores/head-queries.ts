import type {
  InsertQueryBuilder,
  InsertResult,
  OnConflictDatabase,
  OnConflictTables,
  OnConflictUpdateBuilder,
  UpdateQueryBuilder,
  UpdateResult,
} from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from '../context.ts'
import type { Row } from '../fields.ts'
import { fieldsOf } from '../fields.ts'
import type { Query, QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { HeadScope, Tables } from '../schema/tables.ts'

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
export type HeadRow = Pick<Row<'heads'>, (typeof STATE)[number]>

/** What a head has beside its key. */
const STATE = ['version', 'epoch', 'retired', 'total', 'nextSeq'] as const

/** The statements on heads. */
export interface HeadQueries {
  readonly find: Query<HeadKey, HeadRow>
  /** Locks a head, and creates it if it is missing; only finds it where a transaction that writes has the one write lock. */
  readonly lock: Query<HeadKey, HeadRow>
  /** Writes a locked head. */
  readonly save: Query<Head, unknown>
  /** Writes a head that was read, if it has not been written since. */
  readonly saveUnchanged: Query<Head, unknown>
}

/** Defines the statements on heads. */
export function headQueries(context: SqlContext): HeadQueries {
  const fields = fieldsOf(context, 'heads')
  const find = defineQuery((given: QueryValues<HeadKey>) =>
    context.build
      .selectFrom('heads')
      .select(fields.read(...STATE))
      .where(fields.are(given, 'scope', 'key')),
  )
  const lock = lockQuery(context)
  return {
    find,
    lock: lock ?? find,
    save: lock === undefined ? saveOrCreateQuery(context) : saveQuery(context),
    saveUnchanged: saveUnchangedQuery(context),
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

function saveQuery(context: SqlContext): Query<Head, unknown> {
  return defineQuery((given: QueryValues<Head>) => save(context, given))
}

function save(
  context: SqlContext,
  given: QueryValues<Head>,
): UpdateQueryBuilder<Tables, 'heads', 'heads', UpdateResult> {
  return context.build
    .updateTable('heads')
    .set((row) => ({ version: row('version', '+', 1), ...savedValues(given) }))
    .where(fieldsOf(context, 'heads').are(given, 'scope', 'key'))
}

function saveOrCreateQuery(context: SqlContext): Query<Head, unknown> {
  return defineQuery((given: QueryValues<Head>) => saveOrCreate(context, given))
}

/** Most heads are there: an update of one costs the server less than an insert that meets it. */
function saveUnchangedQuery(context: SqlContext): Query<Head, unknown> {
  const saved = sql.lit(1).as('saved')
  const create = defineQuery(
    (given: QueryValues<Head>) =>
      saveOrCreate(context, given, (update) => update.where('heads.version', '=', given('version'))).returning(saved),
    { needs: 'true' },
  )
  const update = defineQuery(
    (given: QueryValues<Head>) => save(context, given).where('version', '=', given('version')).returning(saved),
    { needs: 'true' },
  )
  return (head) => (head.version === 0 ? create(head) : update(head))
}

function saveOrCreate(
  { build }: SqlContext,
  given: QueryValues<Head>,
  limited: (update: HeadUpdate) => HeadUpdate = (update) => update,
): InsertQueryBuilder<Tables, 'heads', InsertResult> {
  return build
    .insertInto('heads')
    .values({ scope: given('scope'), key: given('key'), version: 1, ...savedValues(given) })
    .onConflict((conflict) =>
      limited(
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

type HeadUpdate = OnConflictUpdateBuilder<OnConflictDatabase<Tables, 'heads'>, OnConflictTables<'heads'>>

function savedValues(given: QueryValues<Head>) {
  return {
    epoch: given('epoch'),
    retired: given('retired').as((retired) => (retired ? 1 : 0)),
    total: given('total'),
    next_seq: given('nextSeq'),
  }
}
