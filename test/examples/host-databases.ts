import type { DatabaseKind } from '../databases.ts'
import { newDatabase } from '../databases.ts'

/** A database of a host's own, made for one test. */
export interface HostDatabase {
  /** By what an example finds it. */
  readonly env: Readonly<Record<string, string>>
  /** Makes a table of the host's refuse, from now on, what would insert or delete a row. */
  refuse(what: 'insert' | 'delete', table: string): Promise<void>
  /** On PostgreSQL: makes every transaction that inserts into the table fail, from now on, when it commits. */
  refuseCommit(table: string): Promise<void>
  drop(): Promise<void>
}

const REFUSING: Readonly<Record<string, string>> = {
  SQLite: "begin select raise(abort, 'refused'); end",
  PostgreSQL: 'for each row execute function refuse()',
  MariaDB: "for each row signal sqlstate '45000'",
}
const FUNCTION =
  "create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$"

/** Makes a database of a kind. */
export async function hostDatabase<Tx>(kind: DatabaseKind<Tx>): Promise<HostDatabase> {
  const ends: (() => Promise<unknown>)[] = []
  const database = await newDatabase(kind, { atEnd: (end) => void ends.unshift(end) })
  const { url } = database
  const refuse = async (trigger: string): Promise<void> => {
    if (kind.name === 'PostgreSQL') await database.run(FUNCTION)
    await database.run(`create ${trigger} ${REFUSING[kind.name]}`)
  }
  return {
    env: kind.name === 'SQLite' ? { DATABASE_FILE: url } : { DATABASE_URL: url },
    refuse: (what, table) => refuse(`trigger refuse before ${what} on ${table}`),
    refuseCommit: (table) => refuse(`constraint trigger refuse after insert on ${table} deferrable initially deferred`),
    async drop() {
      for (const end of ends) await end()
    },
  }
}
