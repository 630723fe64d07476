import type { Actor, Forge, IssueTracker } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import type { TestDatabase } from '../../databases.ts'
import { tablesOf } from '../../examples/tracker-suite.ts'

const TABLES = ['issue', 'comment', 'next_number', 'forgelet_heads', 'forgelet_events']

/** A host with a tracker, on one database. */
export interface ImportHost<Tx> {
  readonly forge: Forge<Actor, Tx>
  /** A second forge on the same database, as another process would have it. */
  readonly other: Forge<Actor, Tx>
  /** Every row of the tracker, and of the forge what an import may change. */
  contents(): Promise<unknown>
}

/** The trackers of the examples, by the database. */
const TRACKERS: Readonly<Record<string, string>> = {
  SQLite: 'tracker-sqlite.mjs',
  PostgreSQL: 'tracker-postgres.mjs',
  MariaDB: 'tracker-mariadb.mjs',
}

export async function importHost<Tx>(
  database: TestDatabase<Tx>,
  kind: { readonly name: string },
): Promise<ImportHost<Tx>> {
  const name = TRACKERS[kind.name] ?? ''
  const sql = await tablesOf(name)
  const tables = [...sql.matchAll(/create table (\S+)/g)].map(([, table = '']) => table)
  // The database may be one that another test has given back.
  const drops = tables.toReversed().map((table) => `drop table if exists ${table}`)
  await database.runAll([...drops, ...sql.split(';')])
  const { transaction: own } = await database.connect()
  const file: string = `../../../examples/${name}`
  const example: { createTracker(handle: Tx): IssueTracker<Actor, Tx> } = await import(file)
  const forge = () =>
    createForge<Actor, Tx>({
      storage: database.storage(),
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
      issues: example.createTracker(own),
      logger: false,
    })
  return {
    forge: forge(),
    other: forge(),
    async contents() {
      const all: unknown[] = []
      for (const table of TABLES) all.push([table, await database.run(`select * from ${table} order by 1, 2`)])
      return all
    },
  }
}
