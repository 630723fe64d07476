import type { Transaction } from 'kysely'
import { CamelCasePlugin, Kysely, MysqlDialect, ParseJSONResultsPlugin, PostgresDialect } from 'kysely'
import type { PoolOptions } from 'mysql2'
import { createPool } from 'mysql2'
import pg from 'pg'
import type { KyselyDatabase, KyselyStorageOptions, KyselyTransaction } from '../../src/storage/kysely.ts'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import type { BegunTransaction } from '../../src/testing/testing.ts'
import type { AnyKind, DatabaseKind, Level } from '../databases.ts'
import { kind, MARIADB, POSTGRES } from '../databases.ts'

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
  return new Kysely({ dialect: new PostgresDialect({ pool: hostPool(url, options) }), plugins: PLUGINS })
}

/** A pool of pg whose host listens for each connection that is lost. */
export function hostPool(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 40, ...options })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

/** Opens a Kysely on MariaDB, with a statement that each connection begins with. */
export function mariadbKysely(url: string, options: PoolOptions = {}, statement?: string): Kysely<HostTables> {
  const pool = createPool({ uri: url, connectionLimit: 20, ...options })
  if (statement !== undefined) pool.on('connection', (connection) => void connection.query(statement))
  return new Kysely({ dialect: new MysqlDialect({ pool }), plugins: PLUGINS })
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

/** The databases of a kind, with storages over one Kysely of their host, of any version. */
export function overKysely<T extends KyselyTransaction>(
  below: DatabaseKind<unknown>,
  dialect: KyselyStorageOptions['dialect'],
  openKysely: (url: string) => AnyKysely<T>,
): DatabaseKind<T> & AnyKind {
  return kind<T>({
    ...below,
    name: `Kysely over ${below.name}`,
    async open(url) {
      const host = await below.open(url)
      const kysely = openKysely(url)
      return {
        storage: (options) => kyselyStorage(kysely, { dialect, ...options }),
        // Types keep a host from this mistake, and JavaScript does not: a Kysely that is no transaction.
        connect: async () => ({ transaction: kysely as unknown as T, run: host.run, end: () => undefined }),
        async begin(level) {
          const begun = await heldOpen(beginning(kysely, level))
          const run = async (text: string) => {
            const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] } as const
            const compiled = { sql: text, parameters: [], query, queryId: { queryId: 'host' } }
            const { rows } = await begun.transaction.executeQuery(compiled)
            return rows.map((row) => Object.fromEntries(Object.entries(Object(row))))
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

function beginning<T>(kysely: AnyKysely<T>, level: Level | undefined) {
  const builder = kysely.transaction()
  if (level === undefined) return builder
  return builder.setIsolationLevel(level === 'snapshot' ? 'repeatable read' : level)
}

export const KYSELY_POSTGRES: DatabaseKind<Tx> & AnyKind = overKysely(POSTGRES, 'postgres', postgresKysely)

export const KYSELY_MARIADB: DatabaseKind<Tx> & AnyKind = overKysely(MARIADB, 'mysql', mariadbKysely)
