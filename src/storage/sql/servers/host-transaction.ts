import { hasMethods, isObject, propertyOf } from '../../../schema/arguments.ts'
import type { SqlValue } from '../query.ts'
import type {
  DrizzleSql,
  DrizzleTransaction,
  HostTransaction,
  KnexTransaction,
  KyselyExecutor,
  KyselyTransaction,
  MariadbTransaction,
  MikroOrmTransaction,
  PostgresJsTransaction,
  PrismaTransaction,
  TypeOrmTransaction,
} from './libraries.ts'

/** Returns whether a value is a transaction of another library. */
export function isHostTransaction(value: object): value is HostTransaction {
  return hasMethods(value, 'run') && 'identity' in value
}

/**
 * Wraps a `Transaction` of Kysely (0.27 to 0.29) for `withTransaction`. Its plugins do not see the statements.
 *
 * @param transaction - from `transaction().execute(…)` or `startTransaction()`
 */
export function fromKysely<T extends KyselyTransaction>(transaction: T): HostTransaction<T> {
  return { identity: transaction, run: runIn(transaction) }
}

/** Returns what runs a statement on a connection of Kysely: a compiled query without a tree, which no plugin sees. */
export function runIn(executor: KyselyExecutor): HostTransaction['run'] {
  const bare = executor.withoutPlugins()
  return async (sql, parameters) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const
    return (await bare.executeQuery({ sql, parameters, query, queryId: { queryId: 'forgelet' } })).rows
  }
}

/**
 * Wraps a transaction of Drizzle for `withTransaction`: of its drivers node-postgres, postgres.js and mysql2.
 *
 * @param transaction - what `database.transaction(…)` passes to its work
 * @param sql - the tag `sql` of `drizzle-orm`
 */
export function fromDrizzle<T extends DrizzleTransaction<Query>, Query>(
  transaction: T,
  sql: DrizzleSql<Query>,
): HostTransaction<T> {
  return {
    identity: transaction,
    async run(text, parameters) {
      const { parts, values } = split(text, parameters)
      return rowsIn(await transaction.execute(sql(Object.assign(parts, { raw: parts }), ...values)))
    },
  }
}

/**
 * Wraps a transaction of Knex for `withTransaction`: of its clients `pg` and `mysql2`.
 *
 * @param transaction - what `knex.transaction(…)` passes to its work, or returns
 */
export function fromKnex<T extends KnexTransaction>(transaction: T): HostTransaction<T> {
  return {
    identity: transaction,
    async run(text, parameters) {
      const { parts, values } = split(text, parameters)
      return rowsIn(await transaction.raw(parts.map((part) => part.replaceAll('?', '\\?')).join('?'), values))
    },
  }
}

/**
 * Wraps the client of an interactive transaction of Prisma (7) for `withTransaction`: of its adapters for pg and MariaDB.
 *
 * @param transaction - what `prisma.$transaction(…)` passes to its work
 */
export function fromPrisma<T extends PrismaTransaction>(transaction: T): HostTransaction<T> {
  return {
    identity: transaction,
    async run(sql, parameters) {
      return listIn(await transaction.$queryRawUnsafe(sql, ...parameters))
    },
  }
}

/**
 * Wraps the manager of a transaction of TypeORM for `withTransaction`: of its drivers `postgres` and `mariadb`.
 *
 * @param manager - what `dataSource.transaction(…)` passes to its work
 * @throws TypeError if no transaction is open on it
 */
export function fromTypeOrm<T extends TypeOrmTransaction>(manager: T): HostTransaction<T> {
  if (!isObject(manager.queryRunner)) throw new TypeError('the manager of TypeORM must be that of a transaction')
  return { identity: manager, run: async (sql, values) => rowsOrNone(await manager.query(sql, [...values])) }
}

/**
 * Wraps the `EntityManager` of a transaction of MikroORM (6 and 7) for `withTransaction`. Flush it before you call the forge.
 *
 * @param manager - what `em.transactional(…)` passes to its work
 * @throws TypeError if no transaction is open on it
 */
export function fromMikroOrm<T extends MikroOrmTransaction>(manager: T): HostTransaction<T> {
  const open = manager.getTransactionContext()
  if (isKnex(open)) return { ...fromKnex(open), identity: manager }
  if (isKysely(open)) return { ...fromKysely(open), identity: manager }
  throw new TypeError('the EntityManager of MikroORM must be that of a transaction')
}

/**
 * Wraps a transaction of postgres.js for `withTransaction`.
 *
 * @param sql - what `sql.begin(…)` passes to its work
 */
export function fromPostgresJs<T extends PostgresJsTransaction>(sql: T): HostTransaction<T> {
  return { identity: sql, run: runUnsafe(sql) }
}

/**
 * Returns what runs a statement on a connection of postgres.js.
 *
 * @param prepare - whether statements are kept prepared on it. Others cost another round trip
 */
export function runUnsafe(sql: Pick<PostgresJsTransaction, 'unsafe'>, prepare = false): HostTransaction['run'] {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: postgres.js accepts these values, but its type is narrower
  return async (text, values) => sql.unsafe(text, [...values] as never[], { prepare: prepare && values.length > 0 })
}

/**
 * Wraps a connection of the package `mariadb` (3) for `withTransaction`.
 *
 * @param connection - of the promise API, on which the host has begun a transaction
 */
export function fromMariadb<T extends MariadbTransaction>(connection: T): HostTransaction<T> {
  const asIs = { rowsAsArray: false, metaAsArray: false, nestTables: false, namedPlaceholders: false } as const
  return {
    identity: connection,
    run: async (sql, values) => rowsOrNone(await connection.query({ sql, ...asIs }, [...values])),
  }
}

/** Returns whether a value is a transaction of Kysely. */
export function isKysely(value: unknown): value is KyselyTransaction {
  return hasMethods(value, 'executeQuery', 'withoutPlugins') && propertyOf(value, 'isTransaction') === true
}

/** Those of Knex are functions. */
function isKnex(value: unknown): value is KnexTransaction {
  return typeof value === 'function' && 'raw' in value && 'isCompleted' in value
}

/** Returns the rows in an answer. A library answers a statement without rows with an object: then there are none. */
export function rowsOrNone(answer: unknown): readonly unknown[] {
  return Array.isArray(answer) ? rowsIn(answer) : []
}

/** A quoted text or name. A condition of the host may contain one that looks like a placeholder. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/.source
const NUMBERED = new RegExp(`${QUOTED}|\\$(\\d+)`, 'g')
const UNNUMBERED = new RegExp(`${QUOTED}|(\\?)`, 'g')

/** Splits a statement at its placeholders. Those of PostgreSQL have numbers, and `?` is an operator there. */
function split(
  sql: string,
  parameters: readonly SqlValue[],
): { readonly parts: string[]; readonly values: SqlValue[] } {
  const found = (pattern: RegExp) => [...sql.matchAll(pattern)].filter(([, placeholder]) => placeholder !== undefined)
  const numbered = found(NUMBERED)
  const placeholders = parameters.length === 0 || numbered.length > 0 ? numbered : found(UNNUMBERED)
  const ends = [...placeholders.map(({ index }) => index), sql.length]
  const starts = [0, ...placeholders.map(({ index, 0: { length } }) => index + length)]
  const parts = ends.map((end, at) => sql.slice(starts[at], end))
  const values = placeholders.map(([, number], at) => parameters[number === '?' ? at : Number(number) - 1] ?? null)
  return { parts, values }
}

/** Returns the rows in the answer of pg, of mysql2, or of a driver that answers with the rows themselves. */
function rowsIn(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) return listIn(propertyOf(answer, 'rows'))
  return Array.isArray(answer[0]) ? answer[0] : answer
}

function listIn(rows: unknown): readonly unknown[] {
  if (Array.isArray(rows)) return rows
  throw new TypeError(
    'the library does not return the rows of a statement: leave the answers of its driver as they are',
  )
}
