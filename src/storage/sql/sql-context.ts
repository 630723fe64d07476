import { Kysely } from 'kysely'
import { Columns } from './columns.ts'
import type { SqlDialect } from './dialect.ts'
import { IdCodec } from './id-codec.ts'
import type { IdColumns } from './id-columns.ts'
import { chooseIdColumns } from './id-columns.ts'
import { TablePrefix } from './table-prefix.ts'
import type { Tables } from './tables.ts'

/** What every storage in an SQL database can be told. */
export interface SqlStorageOptions {
  /** Column types of the host's ids. Default: `bigint` for all. */
  readonly ids?: IdColumns | undefined
  /** Begins the name of every table, view and index. Lower-case letters, digits and `_`. Default `forgelet_`. */
  readonly prefix?: string | undefined
}

/** What the stores build their queries with. */
export interface SqlContext {
  readonly dialect: SqlDialect
  readonly prefix: string
  readonly ids: IdCodec
  readonly columns: Columns
  /** Builds queries; it cannot run them. */
  readonly build: Kysely<Tables>
}

/** @throws TypeError when the prefix or a column type is none */
export function createSqlContext(dialect: SqlDialect, options: SqlStorageOptions = {}): SqlContext {
  const { prefix = 'forgelet_', ids } = options
  if (typeof prefix !== 'string' || !/^[a-z][a-z0-9_]{0,30}$/.test(prefix) || prefix.startsWith('sqlite_')) {
    throw new TypeError(
      'prefix must be 1 to 31 lower-case letters, digits or _, beginning with a letter, and not sqlite_',
    )
  }

  const build = new Kysely<Tables>({ dialect: dialect.compiler, plugins: [new TablePrefix(prefix)] })
  return { dialect, prefix, ids: new IdCodec(chooseIdColumns(ids), dialect), columns: new Columns(dialect), build }
}
