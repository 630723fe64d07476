import Database from 'better-sqlite3'
import type { Transaction } from 'kysely'
import {
  CamelCasePlugin,
  Kysely,
  MysqlDialect,
  ParseJSONResultsPlugin,
  PostgresDialect,
  SqliteDialect,
  sql,
} from 'kysely'
import type { PoolOptions } from 'mysql2'
import { createPool } from 'mysql2'
import pg from 'pg'
import type { KyselyDatabase, KyselyStorageOptions, KyselyTransaction } from '../../src/storage/kysely.ts'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import type { HostTransaction } from '../../src/testing/testing.ts'
import type { AnyKind, DatabaseKind, Level } from '../databases.ts'
import { kind, MARIADB, POSTGRES, SQLITE } from '../databases.ts'

/** A host's tables: none that its own types name. */
export type HostTables = Record<string, Record<string, unknown>>

type Tx = Transaction<HostTables>

/** What begins a transaction, in any version of Kysely. */
interface TransactionBuilder<Tx> {
  execute<T>(work: (transaction: Tx) => Promise<T>): Promise<T>
}

/** A Kysely of any version. */
interface AnyKysely<Tx> extends KyselyDatabase<Tx> {
  destroy(): Promise<void>
}

const PLUGINS = [new CamelCasePlugin(), new ParseJSONResultsPlugin()]

/** Opens a Kysely on PostgreSQL as a host has one: with plugins, and a listener for each connection that is lost. */
export function postgresKysely(url: string, options: pg.PoolConfig = {}): Kysely<HostTables> {
  const pool = new pg.Pool({ connectionString: url, max: 40, ...options })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return new Kysely({ dialect: new PostgresDialect({ pool }), plugins: PLUGINS })
}

/** Opens a Kysely on MariaDB, with a statement that each connection begins with. */
export function mariadbKysely(url: string, options: PoolOptions = {}, statement?: string): Kysely<HostTables> {
  const pool = createPool({ uri: url, connectionLimit: 20, ...options })
  if (statement !== undefined) pool.on('connection', (connection) => void connection.query(statement))
  return new Kysely({ dialect: new MysqlDialect({ pool }), plugins: PLUGINS })
}

/** Opens a handle as a host has one who does not want his event loop to sleep while another process writes. */
export function openHandle(file: string): Database.Database {
  const handle = new Database(file, { timeout: 0 })
  handle.pragma('journal_mode = wal')
  handle.pragma('synchronous = normal') // the tests do not lose power
  return handle
}

export function sqliteKysely(file: string): Kysely<HostTables> {
  return new Kysely({ dialect: new SqliteDialect({ database: openHandle(file) }), plugins: PLUGINS })
}

/** A transaction that stays open until its host ends it, where Kysely ends it with the work. */
export function heldOpen<Tx>(builder: TransactionBuilder<Tx>): Promise<HostTransaction<Tx>> {
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

/** The databases of a kind, with storages over one Kysely of their host. */
function overKysely(
  below: DatabaseKind<unknown>,
  dialect: KyselyStorageOptions['dialect'],
  openKysely: (url: string) => Kysely<HostTables>,
): DatabaseKind<Tx> & AnyKind {
  return kind<Tx>({
    ...below,
    name: `Kysely over ${below.name}`,
    async open(url) {
      const host = await below.open(url)
      const kysely = openKysely(url)
      return {
        storage: (options) => kyselyStorage(kysely, { dialect, ...options }),
        // Types keep a host from this mistake, and JavaScript does not: a Kysely that is no transaction.
        connect: async () => ({ transaction: kysely as Tx, run: host.run, end: () => undefined }),
        async begin(level) {
          const begun = await heldOpen(beginning(kysely, level))
          const run = async (text: string) => {
            const { rows } = await sql.raw<Record<string, unknown>>(text).execute(begun.transaction)
            return rows
          }
          return { ...begun, run }
        },
        run: host.run,
        async end() {
          await kysely.destroy()
          await host.end()
        },
      }
    },
  })
}

function beginning(kysely: Kysely<HostTables>, level: Level | undefined) {
  const builder = kysely.transaction()
  if (level === undefined) return builder
  return builder.setIsolationLevel(level === 'snapshot' ? 'repeatable read' : level)
}

export const KYSELY_POSTGRES: DatabaseKind<Tx> & AnyKind = overKysely(POSTGRES, 'postgres', postgresKysely)

export const KYSELY_MARIADB: DatabaseKind<Tx> & AnyKind = overKysely(MARIADB, 'mysql', mariadbKysely)

/** One connection: nothing is done beside a transaction. */
export const KYSELY_SQLITE: DatabaseKind<Tx> & AnyKind = kyselySqlite(sqliteKysely)

/** Kysely of any version over SQLite. */
export function kyselySqlite<T extends KyselyTransaction>(
  openKysely: (file: string) => AnyKysely<T>,
): DatabaseKind<T> & AnyKind {
  const { levels: _levels, ...below } = SQLITE
  return kind<T>({
    ...below,
    name: 'Kysely over SQLite',
    levels: [],
    answersBeside: false,
    async open(file) {
      const host = await SQLITE.open(file)
      const kysely = openKysely(file)
      return {
        storage: (options) => kyselyStorage(kysely, { dialect: 'sqlite', ...options }),
        connect: () => Promise.reject(new TypeError('there is one connection')),
        begin: async () => ({ ...(await heldOpen(kysely.transaction())), run: host.run }),
        run: host.run,
        async end() {
          await kysely.destroy()
          await host.end()
        },
      }
    },
  })
}
