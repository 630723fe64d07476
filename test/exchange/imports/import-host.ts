import type { Actor, Forge } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import type { TestDatabase } from '../../databases.ts'
import type { Row } from '../trackers/row-tracker.ts'
import { RowTracker, TRACKER_TABLES } from '../trackers/row-tracker.ts'

const TABLES = ['host_issues', 'host_comments', 'forgelet_heads', 'forgelet_events']

/** A host with a tracker, on one database. */
export interface ImportHost<Tx> {
  readonly forge: Forge<Actor, Tx>
  /** A second forge on the same database, as another process would have it. */
  readonly other: Forge<Actor, Tx>
  /** Every row of the tracker, and of the forge what an import may change. */
  contents(): Promise<unknown>
}

export async function importHost<Tx>(database: TestDatabase<Tx>): Promise<ImportHost<Tx>> {
  for (const sql of TRACKER_TABLES) await database.run(sql)
  const { transaction: own } = await database.connect()
  const issues = new RowTracker<Actor, Tx>((sql, transaction = own) => runOn(transaction, sql))
  const forge = () =>
    createForge<Actor, Tx>({
      storage: database.storage(),
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
      issues,
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

/** A handle of SQLite, a client of pg or a connection of mysql2, as far as it runs a statement. */
type Driver =
  | { prepare(sql: string): { readonly reader: boolean; all(): Row[]; run(): unknown } }
  | { query(sql: string): Promise<{ readonly rows: Row[] } | readonly [Row[], unknown]> }

function runOn(transaction: unknown, sql: string) {
  const driver = transaction as Driver // what it is depends on the database
  if ('query' in driver) {
    return driver.query(sql).then((answer) => ('rows' in answer ? answer.rows : answer[0]))
  }
  const statement = driver.prepare(sql)
  if (statement.reader) return statement.all()
  statement.run()
  return []
}
