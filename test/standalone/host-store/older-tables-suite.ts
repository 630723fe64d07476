import { expect, test } from 'vitest'
import type { HostDatabase } from '../../../src/standalone/host-store/host-database.ts'
import { HOST_MIGRATIONS } from '../../../src/standalone/host-store/host-tables.ts'
import { SqlHostStore } from '../../../src/standalone/host-store/sql-host-store.ts'
import { SqlIssueTracker } from '../../../src/standalone/host-store/sql-issue-tracker.ts'
import { compileStatement } from '../../../src/storage/sql/query.ts'

/** What the release of the first version wrote, statement by statement. */
const WRITTEN = [
  `insert into host_accounts (id, kind, name, folded_name, full_name, email, hides_email, is_site_admin, visibility, location,
   website, description, created_at) values (1, 'user', 'Olga', 'olga', '', 'olga@example.com', 0, 1, 'public', '', '', '', 0)`,
  `insert into host_repositories (id, owner_id, name, folded_name, description, is_private, is_archived, default_branch,
   created_at) values (1, 1, 'rocket', 'rocket', '', 0, 0, 'main', 0)`,
  "insert into host_labels (id, repository_id, name, color, description) values (1, 1, 'bug', 'ee0701', 'Broken')",
  issue(1, 4),
  'insert into host_issue_labels (issue_id, place, label_id) values (1, 0, 1)',
  'insert into host_issue_assignees (issue_id, place, user_id) values (1, 0, 1)',
]

function issue(id: number, index: number): string {
  return `insert into host_issues (id, repository_id, issue_index, kind, title, body, poster_id, state, is_locked, branch,
    comment_count, created_at, updated_at, closed_at)
    values (${id}, 1, ${index}, 'issue', 'Number ${index}', 'Text', 1, 'closed', 1, '', 3, 1000, 2000, 3000)`
}

function record(number: number): object {
  const author = { poster_id: 1, poster_name: 'Olga', poster_email: 'olga@example.com' }
  const [created, updated, closed] = ['1970-01-01T00:00:01Z', '1970-01-01T00:00:02Z', '1970-01-01T00:00:03Z']
  const [title, content] = [`Number ${number}`, 'Text']
  return { number, ...author, title, content, state: 'closed', is_locked: true, created, updated, closed }
}

/** A database without tables. */
export interface EmptyDatabase<Tx> {
  readonly database: HostDatabase<Tx>
  /** Runs a statement as the earlier release does. */
  run(sql: string): Promise<unknown> | unknown
}

/**
 * Defines the test of a database that the first version made.
 *
 * @param begun - how many statements of the next version an earlier migration ran before it ended, where each commits
 */
export function olderTablesCase<Tx>(open: () => Promise<EmptyDatabase<Tx>>, begun: readonly number[] = [0]): void {
  test.each(begun)(
    'tables of the first version are migrated with what they hold, after %i statements',
    async (count) => {
      const { database, run } = await open()
      const { context } = database
      await run('create table host_schema (version integer not null)')
      for (const ddl of HOST_MIGRATIONS[0]?.(context) ?? []) await run(compileStatement(ddl).sql)
      for (const sql of ['insert into host_schema (version) values (1)', ...WRITTEN]) await run(sql)
      const next = HOST_MIGRATIONS[1]?.(context) ?? []
      for (const ddl of next.slice(0, count)) await run(compileStatement(ddl).sql)

      await database.migrate()
      await run(issue(2, 5)) // the earlier release, which still runs
      const tracker = new SqlIssueTracker(database)
      const found = await tracker.issues({ repositoryId: '1', after: 0, limit: 10 }, { actor: 'system' })
      const parts = { labels: [{ name: 'bug', color: 'ee0701', description: 'Broken' }], assignees: ['Olga'] }
      expect(found).toEqual([{ ...record(4), ...parts }, record(5)])

      const [details] = await new SqlHostStore(database).issues(['1'])
      expect(details).toMatchObject({
        issue: { ref: '', commentCount: 3 },
        milestone: undefined,
        originalAuthor: undefined,
      })
      await database.migrate()
      const [schema] = await database.rows<object>({
        sql: 'select * from host_schema',
        parameters: [],
        returnsRows: true,
      })
      expect(Number(Reflect.get(schema ?? {}, 'version'))).toBe(HOST_MIGRATIONS.length)
    },
  )
}
