import type { Actor, Forge, IssueRecord, IssueTracker, MaybePromise } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { after } from '../../../src/schema/sync-or-async.ts'
import type { TestDatabase } from '../../databases.ts'

/** A record is JSON in base64, which needs no escape in a statement of any database. */
const ISSUES =
  'create table host_issues (repository_id varchar(64), number bigint, record text, primary key (repository_id, number))'
const TABLES = ['host_issues', 'forgelet_heads', 'forgelet_events']

/** A host with a tracker, on one database. */
export interface ImportHost<Tx> {
  readonly forge: Forge<Actor, Tx>
  /** A second forge on the same database, as another process would have it. */
  readonly other: Forge<Actor, Tx>
  /** Every row of the tracker, and of the forge what an import may change. */
  contents(): Promise<unknown>
}

export async function importHost<Tx>(database: TestDatabase<Tx>): Promise<ImportHost<Tx>> {
  await database.run(ISSUES)
  const { transaction: own } = await database.connect()
  const forge = () =>
    createForge<Actor, Tx>({
      storage: database.storage(),
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
      issues: rowTracker<Tx>((sql, transaction = own) => runOn(transaction, sql)),
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

type Row = Readonly<Record<string, unknown>>

/** A tracker that keeps each issue as a row, and creates issues only. */
function rowTracker<Tx>(
  run: (sql: string, transaction: Tx | undefined) => MaybePromise<readonly Row[]>,
): IssueTracker<Actor, Tx> {
  return {
    comments: 'none',
    findUsers: (users) => users.map(() => undefined),
    issues(query, { transaction }) {
      const [condition, limit] =
        'numbers' in query
          ? [`number in (${query.numbers.join()})`, query.numbers.length]
          : [`number > ${query.after}`, query.limit]
      const issues = `host_issues where repository_id = '${query.repositoryId}' and ${condition}`
      const rows = run(`select record from ${issues} order by number limit ${limit}`, transaction)
      return after(rows, (all): IssueRecord[] =>
        all.map(({ record }) => JSON.parse(Buffer.from(String(record), 'base64').toString())),
      )
    },
    write({ repositoryId, create }, { transaction }) {
      const rows = create.map(({ record }) => {
        return `('${repositoryId}', ${record.number}, '${Buffer.from(JSON.stringify(record)).toString('base64')}')`
      })
      const sql = `insert into host_issues (repository_id, number, record) values ${rows.join()}`
      return after(run(sql, transaction), () => undefined)
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
