import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStandalone } from '../../../src/standalone/standalone.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES } from '../../databases.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { runForgelet } from '../../start-forgelet.ts'

// "forgelet issues import --atomic" on servers. import.test.ts has it on SQLite.

/** More than four batches. */
const ISSUES = 900
const TABLES = [
  ...['accounts', 'issues', 'labels', 'milestones', 'issue_labels', 'issue_assignees', 'issue_assignee_names'],
  ...['issue_reactions', 'comments', 'comment_reactions', 'deleted_issues'],
].map((name) => `host_${name}`)

/** When the issue 1 is written, the number of the last one is taken in the same transaction. */
const TRIGGER = {
  [MARIADB.name]: [
    `create trigger takes_last after insert on host_issues for each row
       if new.issue_index = 1 then
         insert into host_deleted_issues (id, repository_id, issue_index) values (99999, new.repository_id, ${ISSUES});
       end if`,
  ],
  [POSTGRES.name]: [
    `create function takes_last() returns trigger language plpgsql as $$ begin
       insert into host_deleted_issues (id, repository_id, issue_index) values (99999, new.repository_id, ${ISSUES});
       return null;
     end $$`,
    `create trigger takes_last after insert on host_issues for each row when (new.issue_index = 1)
       execute function takes_last()`,
  ],
}

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test('an import with --atomic and a conflict in its last batch leaves the database as it was', async () => {
    const database = await newDatabase(kind)
    const folder = await mkdtemp(join(tmpdir(), 'forgelet-atomic-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const fixture = { users: [{ username: 'acme' }], repositories: [{ owner: 'acme', name: 'rocket' }] }
    await (await openStandalone({ db: database.url, fixture })).close()
    const document = Array.from({ length: ISSUES }, (_, at) => ({ ...fullIssue, number: at + 1 }))
    await writeFile(join(folder, 'issues.json'), JSON.stringify(document))
    const issues = (...args: readonly string[]) =>
      runForgelet(['issues', 'import', 'issues.json', '--repo=acme/rocket', `--db=${database.url}`, ...args], {
        folder,
      })
    const contents = async () => {
      const all: unknown[] = []
      for (const table of [...TABLES, 'forgelet_events']) {
        all.push([table, await database.run(`select * from ${table} order by 1, 2`)])
      }
      return all
    }
    for (const statement of TRIGGER[kind.name] ?? []) await database.run(statement)

    const before = await contents()
    expect(await issues('--atomic')).toEqual({
      code: 1,
      out: '',
      err: `forgelet: a pull request or a deleted issue has the number ${ISSUES}: give --on-conflict skip or update, or remove the issue from the source; nothing was imported; run the same command again\n`,
    })
    expect(await contents()).toEqual(before)

    // Without --atomic, the batches before it stay.
    expect(await issues()).toMatchObject({ code: 1, err: expect.stringContaining('800 issues') })
    await database.run(
      kind.name === MARIADB.name ? 'drop trigger takes_last' : 'drop trigger takes_last on host_issues',
    )
    await database.run('delete from host_deleted_issues')
    expect(await issues('--atomic')).toMatchObject({ code: 0, err: '' })
    expect(await database.run('select issue_index from host_issues')).toHaveLength(ISSUES)
  })
})
