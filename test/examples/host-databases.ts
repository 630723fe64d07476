import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createConnection } from 'mysql2/promise'
import { MariadbDatabases } from '../storage/databases/mariadb.ts'
import { PostgresDatabase } from '../storage/databases/postgres.ts'

/** A database of a host's own, made for one test. */
export interface HostDatabase {
  /** By what an example finds it. */
  readonly env: Readonly<Record<string, string>>
  /** Makes a table of the host's refuse, from now on, what would insert or delete a row. */
  refuse(what: 'insert' | 'delete', table: string): Promise<void>
  drop(): Promise<void>
}

/** Makes a database in a file. */
export async function sqliteDatabase(): Promise<HostDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-example-'))
  const file = join(folder, 'forge.sqlite')
  return {
    env: { DATABASE_FILE: file },
    async refuse(what, table) {
      const database = new Database(file)
      database.exec(`create trigger refuse before ${what} on ${table} begin select raise(abort, 'refused'); end`)
      database.close()
    },
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

/** A database whose triggers can wait for the COMMIT. */
export interface DeferringDatabase extends HostDatabase {
  /** Makes every transaction that inserts into the table fail, from now on, when it commits. */
  refuseCommit(table: string): Promise<void>
}

/** Makes a database on a PostgreSQL server. */
export async function postgresDatabase(server: string): Promise<DeferringDatabase> {
  const database = new PostgresDatabase(server)
  await database.pool
  await database.run(
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$",
  )
  return {
    env: { DATABASE_URL: database.url },
    async refuse(what, table) {
      await database.run(`create trigger refuse before ${what} on ${table} for each row execute function refuse()`)
    },
    async refuseCommit(table) {
      await database.run(`create constraint trigger refuse after insert on ${table} deferrable initially deferred
        for each row execute function refuse()`)
    },
    drop: () => database.end(),
  }
}

/** Makes a database on a MariaDB server. */
export async function mariadbDatabase(server: string): Promise<HostDatabase> {
  const databases = new MariadbDatabases(server)
  const { url } = await databases.take()
  return {
    env: { DATABASE_URL: url },
    async refuse(what, table) {
      const connection = await createConnection(url)
      await connection.query(`create trigger refuse before ${what} on ${table} for each row signal sqlstate '45000'`)
      await connection.end()
    },
    drop: () => databases.end(),
  }
}
