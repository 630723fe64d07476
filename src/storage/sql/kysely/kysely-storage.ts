import type { ForgeStorage } from '../../contract/storage.ts'
import type { SchemaStorageOptions, SqlContext } from '../context.ts'
import { createSqlContext } from '../context.ts'
import type { SqlDialect } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import { sqliteDialect } from '../dialects/sqlite.ts'
import { createServerStorage } from '../server/server-storage.ts'
import type { KyselyBackend } from './kysely-backend.ts'
import type { KyselyDatabase, KyselyTransaction } from './kysely-database.ts'
import { isKyselyDatabase } from './kysely-database.ts'
import { KyselyServer } from './kysely-server.ts'
import { MysqlBackend } from './mysql-backend.ts'
import { PostgresBackend } from './postgres-backend.ts'
import { SqliteBackend } from './sqlite-backend.ts'

/** The options of a storage on a Kysely. */
export interface KyselyStorageOptions extends SchemaStorageOptions {
  /** The database behind the Kysely: `postgres` (13 and newer), `mysql` (MariaDB, 10.6 and newer) or `sqlite`. */
  readonly dialect: 'postgres' | 'mysql' | 'sqlite'
  /**
   * PostgreSQL only: the schema of every table, view and index; `migrate()` creates it if it does not exist. Letters,
   * digits and `_`. Default: the first of the connection's `search_path`.
   */
  readonly schema?: string | undefined
}

const DIALECTS = 'postgres, mysql or sqlite'

/** Creates a storage on a Kysely. Nothing runs on it before its first use. @throws TypeError if an option is invalid */
export function createKyselyStorage<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  given: KyselyStorageOptions,
): ForgeStorage<Tx> {
  if (!isKyselyDatabase(database)) throw new TypeError('a storage over Kysely needs a Kysely, which is no transaction')
  if (typeof given !== 'object' || given === null) throw new TypeError(`kyselyStorage needs { dialect }: ${DIALECTS}`)

  const { dialect: name, ...options } = given
  const { dialect, backend } = speaking(name)
  if (options.schema !== undefined && name !== 'postgres') throw new TypeError('only PostgreSQL has schemas')

  const context = createSqlContext(dialect, options)
  return createServerStorage(new KyselyServer(database, backend(context), context), context)
}

interface Speech {
  readonly dialect: SqlDialect
  readonly backend: (context: SqlContext) => KyselyBackend
}

function speaking(name: KyselyStorageOptions['dialect']): Speech {
  switch (name) {
    case 'postgres':
      return { dialect: postgresDialect, backend: (context) => new PostgresBackend(context) }
    case 'mysql':
      return {
        dialect: mysqlDialect,
        backend: ({ ids }) => new MysqlBackend(Object.values(ids.columns).includes('uuid')),
      }
    case 'sqlite':
      return { dialect: sqliteDialect, backend: ({ prefix }) => new SqliteBackend(prefix) }
    default:
      throw new TypeError(`dialect must be ${DIALECTS}, not ${JSON.stringify(name satisfies never)}`)
  }
}
