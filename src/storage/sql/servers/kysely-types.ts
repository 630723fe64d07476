import type { SchemaStorageOptions } from '../context.ts'
import type { SqlValue } from '../query.ts'

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

/** Begins a transaction. */
export interface KyselyTransactionBuilder<Tx> {
  /** Returns the same with an isolation level. */
  setIsolationLevel(level: 'read committed' | 'repeatable read'): KyselyTransactionBuilder<Tx>
  /** Runs work in a transaction, and commits it; rolls back if the work rejects. */
  execute<T>(work: (transaction: Tx) => Promise<T>): Promise<T>
}

/** Provides one connection. */
export interface KyselyConnectionBuilder<Tx> {
  /** Runs work on one connection, and releases it. */
  execute<T>(work: (connection: BoundKysely<Tx>) => Promise<T>): Promise<T>
}

/**
 * A `Kysely` of the host, of any version and any tables, with the calls that are made on it. `Tx` is its `Transaction`.
 */
export interface KyselyDatabase<Tx> {
  /** Prepares a transaction. */
  transaction(): KyselyTransactionBuilder<Tx>
  /** Prepares the use of one connection. */
  connection(): KyselyConnectionBuilder<Tx>
}

/** A Kysely that is bound to one connection. */
export interface BoundKysely<Tx> extends KyselyExecutor {
  /** Prepares a transaction on this connection. */
  transaction(): KyselyTransactionBuilder<Tx>
}

/** The options of a storage over Kysely. */
export interface KyselyStorageOptions extends SchemaStorageOptions {
  /** The database beneath: PostgreSQL, or MariaDB. A `schema` is for PostgreSQL alone. */
  readonly dialect: 'postgres' | 'mysql'
}
