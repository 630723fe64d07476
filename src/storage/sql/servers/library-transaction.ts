import { hasMethods, isObject, propertyOf } from '../../../schema/arguments.ts'
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
import type { Isolation, Transactional, TransactionOptions } from './in-transaction.ts'
import { isolationIn, repeated } from './in-transaction.ts'
import type {
  DrizzleLibrary,
  DrizzleTransaction,
  HostTransaction,
  KnexLibrary,
  KnexTransaction,
  KyselyLibrary,
  KyselyTransaction,
  MariadbLibrary,
  MariadbPoolConnection,
  MikroOrmLibrary,
  MikroOrmTransaction,
  PostgresJsLibrary,
  PostgresJsTransaction,
  PrismaLibrary,
  PrismaTransaction,
  TypeOrmLibrary,
  TypeOrmTransaction,
} from './libraries.ts'
import { checkedAfter } from './transaction.ts'

/**
 * Runs `work` in a transaction of a library, with the services of a forge and the transaction, and commits it. Everything
 * else is as in `inTransaction` of `forgelet/storage/postgres` and `forgelet/storage/mariadb`, which take pools. It begins at
 * READ COMMITTED unless the options say otherwise. A transaction of Prisma ends after 30 seconds.
 *
 * ```ts
 * const pinned = await inTransaction(forge, dataSource, async ({ pins }, manager) => {
 *   const issue = await manager.save(Issue, { title })
 *   return pins.pin(actor, { id: issue.id, repositoryId: 1, kind: 'issue' })
 * })
 * ```
 *
 * @param forge - over a storage in the same database
 * @param library - a `Kysely`, `Knex`, client of Prisma, `DataSource` of TypeORM, `EntityManager` of MikroORM, `sql` of
 * postgres.js or pool of npm `mariadb`; of Drizzle `{ database, sql }`
 * @param work - may run several times: what it does elsewhere is not undone
 * @throws any error of `work` and of the library; ForgeError `STORAGE_BUSY` with `retry: 'host-transaction'` if ten
 * transactions were aborted; TypeError if an argument is invalid, or if `work` caught the error of a statement that ended the
 * transaction
 */
export async function inTransaction<T, S, Tx extends DrizzleTransaction<Query>, Query>(
  forge: Transactional<HostTransaction<NoInfer<Tx>>, S>,
  library: DrizzleLibrary<Tx, Query>,
  work: (services: S, transaction: Tx) => Promise<T>,
  options?: TransactionOptions,
): Promise<T>
/** The same in a library that knows its own statements. */
export async function inTransaction<T, S, Tx extends object>(
  forge: Transactional<HostTransaction<NoInfer<Tx>>, S>,
  library: KyselyLibrary<Tx> | KnexLibrary<Tx> | PrismaLibrary<Tx> | TypeOrmLibrary<Tx>,
  work: (services: S, transaction: Tx) => Promise<T>,
  options?: TransactionOptions,
): Promise<T>
/** The same in others. */
export async function inTransaction<T, S, Tx extends object>(
  forge: Transactional<HostTransaction<NoInfer<Tx>>, S>,
  library: MikroOrmLibrary<Tx> | PostgresJsLibrary<Tx> | MariadbLibrary<Tx>,
  work: (services: S, transaction: Tx) => Promise<T>,
  options?: TransactionOptions,
): Promise<T>
export async function inTransaction<T, S>(
  forge: Transactional<HostTransaction, S>,
  library: unknown,
  work: (services: S, transaction: never) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const begin = beginIn(library, options)
  const inside = (open: HostTransaction) => {
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the library's own, as the signatures say
    const run = () => forge.withTransaction(open, (services) => work(services, open.identity as never))
    return checkedAfter(({ sql }) => open.run(sql, []), run)
  }
  return repeated(() => begin(inside))
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
