import { Kysely } from 'kysely'
import { needObject } from '../../schema/arguments.ts'
import { Columns } from './columns.ts'
import type { Place, SqlDialect } from './dialect.ts'
import type { IdColumns } from './ids.ts'
import { chooseIdColumns, IdCodec } from './ids.ts'
import { IdempotentDdl } from './schema/idempotent-ddl.ts'
import { TablePrefix } from './table-prefix.ts'
import type { Tables } from './tables.ts'

/** What every storage in an SQL database can be told. */
export interface SqlStorageOptions {
  /** Column types of the host's ids. Default: `bigint` for all. */
  readonly ids?: IdColumns | undefined
  /** Begins the name of every table, view and index. Lower-case letters, digits and `_`. Default `forgelet_`. */
  readonly prefix?: string | undefined
}

/** What a storage can be told in a database that has schemas. */
export interface SchemaStorageOptions extends SqlStorageOptions {
  /**
   * The schema of every table, view and index; `migrate()` makes it when it does not exist. Letters, digits and `_`.
   * Default: the first of the connection's `search_path`.
   */
  readonly schema?: string | undefined
}

/** What the stores build their queries with. */
export interface SqlContext extends Place {
  readonly dialect: SqlDialect
  readonly ids: IdCodec
  readonly columns: Columns
  /** Builds queries; it cannot run them. */
  readonly build: Kysely<Tables>
}

/** @throws TypeError when the prefix, the schema or a column type is none */
export function createSqlContext(dialect: SqlDialect, options: SchemaStorageOptions = {}): SqlContext {
  needObject(options, 'options', "{ prefix: 'forge_' }")
  const { prefix = 'forgelet_', schema, ids } = options
  if (schema !== undefined && !(typeof schema === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema))) {
    throw new TypeError('schema must be 1 to 63 letters, digits or _, not beginning with a digit')
  }
  if (typeof prefix !== 'string' || !/^[a-z][a-z0-9_]{0,30}$/.test(prefix) || prefix.startsWith('sqlite_')) {
    throw new TypeError(
      'prefix must be 1 to 31 lower-case letters, digits or _, beginning with a letter, and not sqlite_',
    )
  }

  const plugins = [new TablePrefix({ schema, prefix }), ...(dialect.ddlCommitsItself ? [new IdempotentDdl()] : [])]
  const build = new Kysely<Tables>({ dialect: dialect.compiler, plugins })
  const codec = new IdCodec(chooseIdColumns(ids), dialect)
  return { dialect, schema, prefix, ids: codec, columns: new Columns(dialect), build }
}
