import type { SqlValue } from '../query.ts'
import type { Isolation } from './in-transaction.ts'

// The libraries of hosts, with the calls that are made on them. All of these types are public.

/**
 * An open transaction of the host in any library, for `withTransaction` on PostgreSQL or MariaDB. The host's
 * `beforeCommit` receives the same object. `T` is the transaction of the library.
 */
export interface HostTransaction<T extends object = object> {
  /** The transaction of the library. Calls with the same one take turns. */
  readonly identity: T
  /**
   * Runs one statement in the transaction, and returns its rows as objects, with the names and the values that the database
   * has sent; an empty list if it returns none.
   * @param sql - with the placeholders of the database: `$1` on PostgreSQL, `?` on MariaDB
   * @throws the error of the driver, or an error that has it as `cause`
   */
  run(sql: string, parameters: readonly SqlValue[]): Promise<readonly unknown[]>
}

/** The transaction of a library in `T`, which is what a storage lends to the host. */
export type LibraryOf<T> = T extends HostTransaction<infer L> ? L : never

/** A compiled query, as every version of Kysely accepts it: a text with its parameters, without a query tree. */
export interface KyselyQuery {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  readonly query: {
    readonly kind: 'RawNode'
    readonly sqlFragments: readonly string[]
    readonly parameters: readonly never[]
  }
  readonly queryId: { readonly queryId: string }
}

/** Runs compiled queries: a `Kysely`, a `Kysely` bound to one connection, or a `Transaction`. */
export interface KyselyExecutor {
  /** Runs a compiled query, and returns its rows as the driver does. */
  executeQuery(query: KyselyQuery): Promise<{ readonly rows: readonly unknown[] }>
  /** Returns the same without the plugins, which would rename our columns and parse our texts. */
  withoutPlugins(): KyselyExecutor
}

/** An open `Transaction` of Kysely, of any version and any tables, with the calls that are made on it. */
export interface KyselyTransaction extends KyselyExecutor {
  readonly isTransaction: true
}

/** An open transaction of Drizzle on PostgreSQL or MariaDB, with the call that is made on it. */
export interface DrizzleTransaction<Query> {
  /** Runs a query. node-postgres answers with an object that has the rows, postgres.js with the rows, mysql2 with a list whose first element they are. */
  execute(query: Query): PromiseLike<unknown>
  /** Only a transaction has this. It is not called. */
  rollback(): unknown
}

/** The tag `sql` of `drizzle-orm`, which builds a query from the parts of a text and the values between them. */
export type DrizzleSql<Query> = (parts: TemplateStringsArray, ...values: SqlValue[]) => Query

/** An open transaction of Knex, with the calls that are made on it. */
export interface KnexTransaction {
  /** Runs a statement, whose placeholders are `?` on every database. The answer is that of the driver. */
  raw(sql: string, values: SqlValue[]): PromiseLike<unknown>
  /** Only a transaction has this. It is not called. */
  isCompleted(): boolean
}

/** The client of an interactive transaction of Prisma, with the call that is made on it. */
export interface PrismaTransaction {
  /** Runs a statement, and returns its rows. */
  $queryRawUnsafe(sql: string, ...values: SqlValue[]): PromiseLike<unknown>
}

/** The manager of an open transaction of TypeORM, with the call that is made on it. */
export interface TypeOrmTransaction {
  /** Runs a statement. The answer is rows, rows with their number, or an object if the statement returns none. */
  query(sql: string, values: SqlValue[]): PromiseLike<unknown>
  /** Only the manager of a transaction has one. It is not used. */
  readonly queryRunner?: object | undefined
}

/** The `EntityManager` of an open transaction of MikroORM, with the call that is made on it. */
export interface MikroOrmTransaction {
  /** Returns the transaction of Kysely (MikroORM 7) or Knex (6). */
  getTransactionContext(): unknown
}

/** An open transaction of postgres.js, with the call that is made on it. */
export interface PostgresJsTransaction {
  /** Runs a statement, and returns its rows. */
  unsafe(sql: string, values: never[], options?: { prepare: boolean }): PromiseLike<readonly unknown[]>
  /** Only a transaction has this. It is not called. */
  savepoint(...work: never[]): unknown
}

/** A connection of the package `mariadb`, with the call that is made on it. */
export interface MariadbTransaction {
  /** Runs a statement. The answer is rows, or an object if the statement returns none. */
  query(statement: MariadbStatement, values: SqlValue[]): Promise<unknown>
  /** Only a connection has this. */
  beginTransaction(): Promise<void>
}

/** A statement with how its rows are read, whatever the connection is set to. */
export interface MariadbStatement {
  readonly sql: string
  readonly rowsAsArray: false
  readonly metaAsArray: false
  readonly nestTables: false
  readonly namedPlaceholders: false
}

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
