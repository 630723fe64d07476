import { CamelCasePlugin, Kysely, MysqlDialect, ParseJSONResultsPlugin, PostgresDialect } from 'kysely'
import { createPool as createMariadbPool } from 'mariadb'
import { createPool } from 'mysql2'
import pg from 'pg'
import postgres from 'postgres'
import type { BegunTransaction } from '../../app/testing/testing.ts'
import type { KyselyDatabase } from '../../src/storage/mariadb.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type {
  ForgeStorage,
  HostTransaction,
  KyselyExecutor,
  KyselyLibrary,
  KyselyTransaction,
} from '../../src/storage/storage.ts'
import { fromKysely, fromMariadb, fromPostgresJs } from '../../src/storage/storage.ts'
import type { AnyKind, DatabaseKind, Level } from '../databases.ts'
import { kind, MARIADB, POSTGRES } from '../databases.ts'

/** A host's tables: none that its own types name. */
export type HostTables = Record<string, Record<string, unknown>>

/** What begins a transaction, and runs work in it. */
interface TransactionBuilder<Tx> {
  execute<T>(work: (transaction: Tx) => Promise<T>): Promise<T>
}

const PLUGINS = [new CamelCasePlugin(), new ParseJSONResultsPlugin()]

/** Opens a Kysely on PostgreSQL as a host has one: with plugins, and a listener for each connection that is lost. */
export function postgresKysely(url: string, options: pg.PoolConfig = {}): Kysely<HostTables> {
  return new Kysely({ dialect: new PostgresDialect({ pool: hostPool(url, options) }), plugins: PLUGINS })
}

/** A pool of pg whose host listens for each connection that is lost. */
export function hostPool(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 40, ...options })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

/** Opens a Kysely on MariaDB. */
export function mariadbKysely(url: string, connectionLimit = 20): Kysely<HostTables> {
  return new Kysely({
    dialect: new MysqlDialect({ pool: createPool({ uri: url, connectionLimit }) }),
    plugins: PLUGINS,
  })
}

/** A transaction that stays open until its host ends it, where Kysely ends it with the work. */
export function heldOpen<Tx>(builder: TransactionBuilder<Tx>): Promise<BegunTransaction<Tx>> {
  const rolledBack = new Error('rolled back')
  return new Promise((begun, failed) => {
    const ended = builder.execute(
      (transaction) =>
        new Promise<void>((commit, rollBack) => {
          begun({
            transaction,
            async commit() {
              commit()
              await ended
            },
            async rollback() {
              rollBack(rolledBack)
              await ended.catch((error: unknown) => {
                if (error !== rolledBack) throw error
              })
            },
          })
        }),
    )
    ended.catch(failed)
  })
}

/** A client library of the host, open on one database. */
interface OpenClient<Tx> {
  storage(options: object | undefined): ForgeStorage<Tx>
  /** The client itself, which is no transaction: types keep a host from this mistake, and JavaScript does not. */
  readonly mistaken: Tx
  begin(level: Level | undefined): Promise<BegunTransaction<Tx>>
  /** Runs a statement of the host in a transaction. */
  run(transaction: Tx, sql: string): Promise<readonly unknown[]>
  close(): Promise<unknown>
}

/** The level as SQL has it. */
const LEVELS = { snapshot: 'repeatable read', 'read committed': 'read committed' } as const

/** The databases of a kind, with storages over the client library of their host. */
function overClient<Tx>(
  below: DatabaseKind<unknown>,
  library: string,
  open: (url: string) => OpenClient<Tx>,
): DatabaseKind<Tx> & AnyKind {
  return kind<Tx>({
    ...below,
    name: `${library} over ${below.name}`,
    async open(url) {
      const host = await below.open(url)
      const client = open(url)
      return {
        storage: (options) => client.storage(options),
        connect: async () => ({ transaction: client.mistaken, run: host.run, end: () => undefined }),
        async begin(level) {
          const begun = await client.begin(level)
          const run = async (text: string) => {
            const rows = await client.run(begun.transaction, text)
            return rows.map((row) => Object.fromEntries(Object.entries(Object(row))))
          }
          return { ...begun, run }
        },
        run: host.run,
        async end() {
          await client.close()
          await host.end()
        },
      }
    },
  })
}

/** A Kysely of any version. */
type AnyKysely<Tx> = KyselyDatabase & KyselyLibrary<Tx> & { destroy(): Promise<void> }

export function overKysely<Tx extends KyselyTransaction>(
  server: 'postgres' | 'mariadb',
  openKysely: (url: string) => AnyKysely<Tx>,
): DatabaseKind<KyselyExecutor> & AnyKind {
  return overClient<KyselyExecutor>(server === 'postgres' ? POSTGRES : MARIADB, 'Kysely', (url) => {
    const database = openKysely(url)
    return {
      storage: (options) =>
        server === 'postgres' ? postgresStorage(database, options) : mariadbStorage(database, options),
      mistaken: database as unknown as KyselyExecutor,
      begin(level) {
        const builder = database.transaction()
        return heldOpen(level === undefined ? builder : builder.setIsolationLevel(LEVELS[level]))
      },
      run: (transaction, text) => fromKysely(transaction as KyselyTransaction).run(text, []),
      close: () => database.destroy(),
    }
  })
}

export const KYSELY_POSTGRES: DatabaseKind<KyselyExecutor> & AnyKind = overKysely('postgres', postgresKysely)
export const KYSELY_MARIADB: DatabaseKind<KyselyExecutor> & AnyKind = overKysely('mariadb', mariadbKysely)

export const POSTGRES_JS: DatabaseKind<HostTransaction> & AnyKind = overClient(POSTGRES, 'postgres.js', (url) => {
  const sql = postgres(url, { max: 40, onnotice: () => undefined })
  return {
    storage: (options) => postgresStorage<HostTransaction>(sql, options),
    mistaken: sql as unknown as HostTransaction,
    async begin(level) {
      const how = level === undefined ? 'read write' : `isolation level ${LEVELS[level]}`
      const execute = async <T>(work: (open: postgres.TransactionSql) => Promise<T>): Promise<T> =>
        (await sql.begin(how, work)) as T
      const { transaction, ...ends } = await heldOpen<postgres.TransactionSql>({ execute })
      return { ...ends, transaction: fromPostgresJs(transaction) }
    },
    run: (transaction, text) => transaction.run(text, []),
    close: () => sql.end({ timeout: 1 }),
  }
})

export const MARIADB_CONNECTOR: DatabaseKind<HostTransaction> & AnyKind = overClient(MARIADB, 'npm mariadb', (url) => {
  const pool = createMariadbPool(`${url.replace(/^mysql:/, 'mariadb:')}?connectionLimit=20`)
  return {
    storage: (options) => mariadbStorage<HostTransaction>(pool, options),
    mistaken: pool as unknown as HostTransaction,
    async begin(level) {
      const connection = await pool.getConnection()
      if (level !== undefined) await connection.query(`set transaction isolation level ${LEVELS[level]}`)
      await connection.beginTransaction()
      return {
        transaction: fromMariadb(connection),
        async commit() {
          await connection.commit()
          await connection.release()
        },
        async rollback() {
          await connection.rollback()
          await connection.release()
        },
      }
    },
    run: (transaction, text) => transaction.run(text, []),
    close: () => pool.end(),
  }
})
