import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { MARIADB, newDatabase, POSTGRES } from '../databases.ts'

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
export async function postgresDatabase(): Promise<DeferringDatabase> {
  const ends: (() => Promise<unknown>)[] = []
  const database = await newDatabase(POSTGRES, { atEnd: (end) => void ends.unshift(end) })
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
    drop: () => endedOneByOne(ends),
  }
}

/** Makes a database on a MariaDB server. */
export async function mariadbDatabase(): Promise<HostDatabase> {
  const ends: (() => Promise<unknown>)[] = []
  const database = await newDatabase(MARIADB, { atEnd: (end) => void ends.unshift(end) })
  return {
    env: { DATABASE_URL: database.url },
    async refuse(what, table) {
      await database.run(`create trigger refuse before ${what} on ${table} for each row signal sqlstate '45000'`)
    },
    drop: () => endedOneByOne(ends),
  }
}

async function endedOneByOne(ends: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const end of ends) await end()
}
