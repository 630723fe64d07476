import type { KyselyPlugin } from 'kysely'
import { Kysely, OperationNodeTransformer, TableNode } from 'kysely'
import { needObject } from '../../schema/arguments.ts'
import type { OptionNames } from '../../schema/options.ts'
import { refuseUnknown } from '../../schema/options.ts'
import type { SqlDialect, TableLocation } from './dialect.ts'
import type { HostTables } from './host/tables.ts'
import { checkHostTables } from './host/tables.ts'
import type { IdColumns } from './ids.ts'
import { Columns, chooseIdColumns, IdCodec } from './ids.ts'
import type { Tables } from './schema/tables.ts'
import { TABLE_DESCRIPTIONS } from './schema/tables.ts'

/** The options of every storage in an SQL database. */
export interface SqlStorageOptions {
  /** Column types of the host's ids. Default: `bigint` for all. */
  readonly ids?: IdColumns | undefined
  /**
   * The prefix of the name of every table, view and index. Lower-case letters, digits and `_`. Default: `forgelet_`.
   */
  readonly prefix?: string | undefined
  /**
   * The tables of the host in the same database. The storage then answers the ports `directory` and `membership` by them
   * (`storage.host`), and what is deleted or hidden there needs no report. Default: none.
   */
  readonly tables?: HostTables | undefined
}

/** The options of a storage in a database that has schemas. */
export interface SchemaStorageOptions extends SqlStorageOptions {
  /**
   * The schema of every table, view and index; `migrate()` creates it if it does not exist. Letters, digits and `_`.
   * Default: the first of the connection's `search_path`.
   */
  readonly schema?: string | undefined
}

/** The options of a storage in a database without schemas. */
export const SQL_OPTIONS: OptionNames<SqlStorageOptions> = { ids: true, prefix: true, tables: true }
/** The options of a storage in a database that has schemas. */
export const SCHEMA_OPTIONS: OptionNames<SchemaStorageOptions> = { schema: true, ...SQL_OPTIONS }

/** Refuses options of a storage that it does not have. @throws TypeError if they are not an object, or one is unknown */
export function checkStorageOptions<T extends SqlStorageOptions>(
  caller: string,
  options: T,
  known: OptionNames<T>,
): void {
  needObject(options, 'options', "{ prefix: 'forge_' }")
  refuseUnknown(caller, options, known)
  if (options.tables !== undefined) checkHostTables(caller, options.tables)
  if (options.ids === undefined) return

  needObject(options.ids, 'ids', "{ user: 'uuid' }")
  refuseUnknown(caller, options.ids, ID_KINDS, 'ids.')
}

const ID_KINDS: OptionNames<IdColumns> = { user: true, organization: true, repository: true, issue: true }

/** What the queries of the stores are built with. */
export interface SqlContext extends TableLocation {
  readonly dialect: SqlDialect
  readonly ids: IdCodec
  /** The tables of the host that the storage knows. */
  readonly tables: HostTables | undefined
  readonly columns: Columns
  /** Builds queries. It cannot run them. */
  readonly build: Kysely<Tables>
}

/**
 * Creates the context of a storage from its options. @throws TypeError if the prefix, the schema or a column type is
 * invalid
 */
export function createSqlContext(dialect: SqlDialect, options: SchemaStorageOptions = {}): SqlContext {
  const { prefix = 'forgelet_', schema, ids, tables } = options
  if (schema !== undefined && !(typeof schema === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema))) {
    throw new TypeError('schema must be 1 to 63 letters, digits or _, not beginning with a digit')
  }
  if (typeof prefix !== 'string' || !/^[a-z][a-z0-9_]{0,30}$/.test(prefix) || prefix.startsWith('sqlite_')) {
    throw new TypeError(
      'prefix must be 1 to 31 lower-case letters, digits or _, beginning with a letter, and not sqlite_',
    )
  }

  const location = { schema, prefix }
  const transformer = new PrefixTransformer(location, Object.keys(TABLE_DESCRIPTIONS))
  const prefixed: KyselyPlugin = {
    transformQuery: ({ node }) => transformer.transformNode(node),
    transformResult: async ({ result }) => result,
  }
  const build = new Kysely<Tables>({ dialect: dialect.compiler, plugins: [prefixed] })
  const codec = new IdCodec(chooseIdColumns(ids), dialect)
  return { dialect, ...location, ids: codec, tables, columns: new Columns(dialect), build }
}

/** Adds a schema and a prefix to the names of some tables in every query. */
class PrefixTransformer extends OperationNodeTransformer {
  readonly #location: TableLocation
  readonly #tables: ReadonlySet<string>

  /** @param tables - their names without the prefix */
  constructor(location: TableLocation, tables: readonly string[]) {
    super()
    this.#location = location
    this.#tables = new Set(tables)
  }

  protected override transformTable(node: TableNode): TableNode {
    const { name } = node.table.identifier
    if (!this.#tables.has(name)) return node

    const { schema, prefix } = this.#location
    const ours = `${prefix}${name}`
    return schema === undefined ? TableNode.create(ours) : TableNode.createWithSchema(schema, ours)
  }
}
