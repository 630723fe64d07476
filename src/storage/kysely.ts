import type { ForgeStorage } from './contract/forge-storage.ts'
import type { KyselyDatabase, KyselyTransaction } from './sql/kysely/kysely-database.ts'
import type { KyselyStorageOptions } from './sql/kysely/kysely-storage.ts'
import { createKyselyStorage } from './sql/kysely/kysely-storage.ts'

export type { IdColumn, IdColumns } from './sql/id-columns.ts'
export type {
  IsolationLevel,
  KyselyConnectionBuilder,
  KyselyDatabase,
  KyselyExecutor,
  KyselyQuery,
  KyselyTransaction,
  KyselyTransactionBuilder,
} from './sql/kysely/kysely-database.ts'
export type { KyselyStorageOptions } from './sql/kysely/kysely-storage.ts'
export type { SqlValue } from './sql/query.ts'
export type { SchemaStorageOptions, SqlStorageOptions } from './sql/sql-context.ts'

/** A storage in the database of a host's Kysely. */
export function kyselyStorage<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions,
): ForgeStorage<Tx> {
  return createKyselyStorage(database, options)
}
