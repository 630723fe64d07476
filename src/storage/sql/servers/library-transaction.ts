import { hasMethods, isObject, propertyOf } from '../../../schema/arguments.ts'
import type {
  DrizzleSql,
  DrizzleTransaction,
  HostTransaction,
  KnexTransaction,
  KyselyTransaction,
  MariadbTransaction,
  MikroOrmTransaction,
  PostgresJsTransaction,
  PrismaTransaction,
  TypeOrmTransaction,
} from './host-transaction.ts'
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromMariadb,
  fromMikroOrm,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
} from './host-transaction.ts'
import type { Isolation, TransactionOptions } from './in-transaction.ts'
import { isolationIn } from './in-transaction.ts'

/** A database of Drizzle, and the tag `sql` of `drizzle-orm`. */
export interface DrizzleLibrary<Tx, Query> {
  readonly database: {
    /** Runs work in a transaction. */
    transaction<R>(work: (transaction: Tx) => Promise<R>, options?: { isolationLevel?: Isolation }): Promise<R>
  }
  readonly sql: DrizzleSql<Query>
}

/** Begins a transaction of Kysely. */
export interface KyselyTransactionBuilder<Tx> {
  /** Returns the same with an isolation level. */
  setIsolationLevel(level: Isolation): KyselyTransactionBuilder<Tx>
  /** Runs work in a transaction, and commits it; rolls back if the work rejects. */
  execute<T>(work: (transaction: Tx) => Promise<T>): Promise<T>
}

/** A `Kysely`. */
export interface KyselyLibrary<Tx> {
  /** Prepares a transaction. */
  transaction(): KyselyTransactionBuilder<Tx>
  /** Only a Kysely has this. It is not called. */
  connection(): unknown
}

/** A database of Knex. */
export interface KnexLibrary<Tx> {
  /** Runs work in a transaction. */
  transaction<R>(work: (transaction: Tx) => Promise<R>, options?: { isolationLevel?: Isolation }): Promise<R>
  /** Only Knex has this. It is not called. */
  raw: unknown
}

/** The client of Prisma. */
export interface PrismaLibrary<Tx> {
  /** Runs work in a transaction, which it ends after `timeout` milliseconds. */
  $transaction<R>(
    work: (transaction: Tx) => Promise<R>,
    options?: { isolationLevel?: string; timeout?: number },
  ): Promise<R>
}

/** The `DataSource` of TypeORM. */
export interface TypeOrmLibrary<Tx> {
  /** Runs work in a transaction. */
  transaction<R>(isolation: Uppercase<Isolation>, work: (manager: Tx) => Promise<R>): Promise<R>
  /** Only a `DataSource` and a manager have this. It is not called. */
  query: unknown
}

/** The `EntityManager` of MikroORM: a fork of its own for each call. */
export interface MikroOrmLibrary<Tx> {
  /** Runs work in a transaction. */
  transactional<R>(work: (manager: Tx) => Promise<R>, options?: { isolationLevel?: string }): Promise<R>
}

/** The `sql` of postgres.js. */
export interface PostgresJsLibrary<Tx> {
  /** Runs work in a transaction. */
  begin<R>(options: string, work: (sql: Tx) => Promise<R>): Promise<unknown>
}

/** A pool of the package `mariadb`. */
export interface MariadbLibrary<Tx> {
  /** Returns a connection, as soon as one is free. */
  getConnection(): Promise<Tx>
}

/** A connection out of a pool of the package `mariadb`. */
export interface MariadbPoolConnection extends MariadbTransaction {
  /** Runs a statement. */
  query(statement: object | string, values?: unknown): Promise<unknown>
  /** Commits. */
  commit(): Promise<void>
  /** Rolls back. */
  rollback(): Promise<void>
  /** Releases the connection to its pool. */
  release(): Promise<void> | void
}

/** Runs work in a transaction of a library, and returns what the work does. */
type Begin = <R>(work: (transaction: HostTransaction) => Promise<R>) => Promise<R>

/**
 * Returns what begins a transaction in a library.
 *
 * @throws TypeError if the library is not one of those that `inTransaction` takes
 */
export function beginIn(library: unknown, options: TransactionOptions): Begin {
  const level = isolationIn(options)
  const isolationLevel = level
  if (isDrizzle(library)) {
    const { database, sql } = library
    return (work) => database.transaction((open) => work(fromDrizzle(open, sql)), { isolationLevel })
  }
  if (isKysely(library)) {
    return (work) =>
      library
        .transaction()
        .setIsolationLevel(level)
        .execute((open) => work(fromKysely(open)))
  }
  if (isMikroOrm(library))
    return (work) => library.transactional((open) => work(fromMikroOrm(open)), { isolationLevel })
  if (isPrisma(library)) {
    const how = { isolationLevel: PRISMA_LEVELS[level], timeout: PRISMA_TIMEOUT_MS }
    return (work) => library.$transaction((open) => work(fromPrisma(open)), how)
  }
  if (isPostgresJs(library)) {
    return async <R>(work: (open: HostTransaction) => Promise<R>) => {
      const how = `isolation level ${level} read write`
      const done = await library.begin(how, (open) => work(fromPostgresJs(open)))
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: it returns what the work returns, unless that is a list
      return done as R
    }
  }
  if (isMariadb(library)) return async (work) => onMariadb(await library.getConnection(), level, work)
  if (isKnex(library)) return (work) => library.transaction((open) => work(fromKnex(open)), { isolationLevel })
  if (isTypeOrm(library)) {
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the compiler forgets which texts there are
    return (work) => library.transaction(level.toUpperCase() as Uppercase<Isolation>, (open) => work(fromTypeOrm(open)))
  }
  throw new TypeError(
    'inTransaction needs a database of Kysely, Knex, Prisma, TypeORM, MikroORM, postgres.js or npm mariadb, or ' +
      '{ database, sql } of Drizzle; of a pool of pg or mysql2, that of forgelet/storage/postgres or forgelet/storage/mariadb',
  )
}

/** Prisma would end a transaction after five seconds, and one call may take as long. */
const PRISMA_TIMEOUT_MS = 30_000

const PRISMA_LEVELS = {
  'read committed': 'ReadCommitted',
  'repeatable read': 'RepeatableRead',
  serializable: 'Serializable',
} as const

async function onMariadb<R>(
  connection: MariadbPoolConnection,
  level: Isolation,
  work: (transaction: HostTransaction) => Promise<R>,
): Promise<R> {
  try {
    await connection.query(`set transaction isolation level ${level}`)
    await connection.beginTransaction()
    const result = await work(fromMariadb(connection))
    await connection.commit()
    return result
  } catch (error) {
    await connection.rollback().catch(() => undefined) // the connection may be lost
    throw error
  } finally {
    await connection.release()
  }
}

function isDrizzle(value: unknown): value is DrizzleLibrary<DrizzleTransaction<unknown>, unknown> {
  return hasMethods(value, 'sql') && hasMethods(propertyOf(value, 'database'), 'transaction')
}

function isKysely(value: unknown): value is KyselyLibrary<KyselyTransaction> {
  return hasMethods(value, 'transaction', 'connection')
}

function isMikroOrm(value: unknown): value is MikroOrmLibrary<MikroOrmTransaction> {
  return hasMethods(value, 'transactional')
}

function isPrisma(value: unknown): value is PrismaLibrary<PrismaTransaction> {
  return hasMethods(value, '$transaction')
}

function isPostgresJs(value: unknown): value is PostgresJsLibrary<PostgresJsTransaction> {
  return typeof value === 'function' && 'begin' in value && 'unsafe' in value
}

/** A pool of mysql2 has `execute` too, and its connections have other answers. */
function isMariadb(value: unknown): value is MariadbLibrary<MariadbPoolConnection> {
  return hasMethods(value, 'getConnection', 'activeConnections')
}

function isKnex(value: unknown): value is KnexLibrary<KnexTransaction> {
  return typeof value === 'function' && 'transaction' in value && 'raw' in value
}

function isTypeOrm(value: unknown): value is TypeOrmLibrary<TypeOrmTransaction> {
  return isObject(value) && hasMethods(value, 'transaction', 'query', 'createQueryRunner')
}
