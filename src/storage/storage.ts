import type { DrizzleTransaction, HostTransaction } from './sql/servers/host-transaction.ts'
import type { Transactional, TransactionOptions } from './sql/servers/in-transaction.ts'
import { repeated } from './sql/servers/in-transaction.ts'
import type {
  DrizzleLibrary,
  KnexLibrary,
  KyselyLibrary,
  MariadbLibrary,
  MikroOrmLibrary,
  PostgresJsLibrary,
  PrismaLibrary,
  TypeOrmLibrary,
} from './sql/servers/library-transaction.ts'
import { beginIn } from './sql/servers/library-transaction.ts'
import { checkedAfter } from './sql/servers/transaction.ts'

// "forgelet/storage": the types of the storage contract, for authors of storages, and what wraps the transaction of a
// library for `withTransaction`. All of the contract is public. The types that it refers to come from "forgelet".

export type * from './contract/events.ts'
export type * from './contract/host.ts'
export type * from './contract/storage.ts'
export type * from './contract/stores.ts'
export type {
  SqlDatabase,
  SqlStatement,
  SqlStorage,
  SqlTransactionOptions,
} from './sql/database.ts'
export type { SqlDialectName } from './sql/dialect.ts'
export type {
  HostPortsOf,
  HostTable,
  HostTables,
  IssueTable,
  MemberTable,
  OrganizationTable,
  RepositoryTable,
  UserTable,
} from './sql/host/tables.ts'
export type { SqlValue } from './sql/query.ts'
export type {
  DrizzleSql,
  DrizzleTransaction,
  HostTransaction,
  KnexTransaction,
  KyselyExecutor,
  KyselyQuery,
  KyselyTransaction,
  LibraryOf,
  MariadbStatement,
  MariadbTransaction,
  MikroOrmTransaction,
  PostgresJsTransaction,
  PrismaTransaction,
  TypeOrmTransaction,
} from './sql/servers/host-transaction.ts'
export {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromMariadb,
  fromMikroOrm,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
} from './sql/servers/host-transaction.ts'
export type { Isolation, Transactional, TransactionOptions, WorkInTransaction } from './sql/servers/in-transaction.ts'
export type {
  DrizzleLibrary,
  KnexLibrary,
  KyselyLibrary,
  KyselyTransactionBuilder,
  MariadbLibrary,
  MariadbPoolConnection,
  MikroOrmLibrary,
  PostgresJsLibrary,
  PrismaLibrary,
  TypeOrmLibrary,
} from './sql/servers/library-transaction.ts'

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
