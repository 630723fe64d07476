import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../../src/cli/run-cli.ts'
import { openStandalone } from '../../../src/standalone/standalone.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { onServer } from '../../storage/databases/servers.ts'
import type { TestDatabase } from '../../storage/sql/server/server-databases.ts'
import { MARIADB, newDatabase, SERVER_KINDS } from '../../storage/sql/server/server-databases.ts'

// "forgelet issues import --atomic" in this process, on the servers. import.test.ts has it on SQLite.

/** More than four batches. */
const ISSUES = 900
const TABLES = [
  ...['accounts', 'issues', 'labels', 'milestones', 'issue_labels', 'issue_assignees', 'issue_assignee_names'],
  ...['issue_reactions', 'comments', 'comment_reactions', 'deleted_issues'],
].map((name) => `host_${name}`)

/** When the issue 1 is written, the number of the last one is taken in the same transaction. */
const TRIGGER = {
  mariadb: [
    `create trigger takes_last after insert on host_issues for each row
       if new.issue_index = 1 then
         insert into host_deleted_issues (id, repository_id, issue_index) values (99999, new.repository_id, ${ISSUES});
       end if`,
  ],
  postgres: [
    `create function takes_last() returns trigger language plpgsql as $$ begin
       insert into host_deleted_issues (id, repository_id, issue_index) values (99999, new.repository_id, ${ISSUES});
       return null;
     end $$`,
    `create trigger takes_last after insert on host_issues for each row when (new.issue_index = 1)
       execute function takes_last()`,
  ],
}

async function contents({ run }: Pick<TestDatabase, 'run'>): Promise<readonly unknown[]> {
  const all: unknown[] = []
  for (const table of [...TABLES, 'forgelet_events'])
    all.push([table, await run(`select * from ${table} order by 1, 2`)])
  return all
}

async function issues(
  folder: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly err: string }> {
  let err = ''
  const code = await runCli(['issues', ...args], {
    out: () => undefined,
    err: (line) => {
      err += `${line}\n`
    },
    write: async () => undefined,
    showStatus: undefined,
    stop: new AbortController().signal,
    environment: {},
  })
  return { code, err: err.replaceAll(folder, '@') }
}

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    test('an import with --atomic and a conflict in its last batch leaves the database as it was', async () => {
      const database = await newDatabase(kind, server)
      const folder = await mkdtemp(join(tmpdir(), 'forgelet-atomic-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const fixture = { users: [{ username: 'acme' }], repositories: [{ owner: 'acme', name: 'rocket' }] }
      await (await openStandalone({ db: database.url, fixture })).close()
      const document = Array.from({ length: ISSUES }, (_, at) => ({ ...fullIssue, number: at + 1 }))
      await writeFile(join(folder, 'issues.json'), JSON.stringify(document))
      const run = (sql: string) => database.run(sql)
      const command = ['import', join(folder, 'issues.json'), '--repo=acme/rocket', `--db=${database.url}`]
      for (const statement of TRIGGER[kind === MARIADB ? 'mariadb' : 'postgres']) await run(statement)

      const before = await contents({ run })
      expect(await issues(folder, ...command, '--atomic')).toEqual({
        code: 1,
        err: `forgelet: a pull request or a deleted issue has the number ${ISSUES}: give --on-conflict skip or update, or remove the issue from the source; nothing was imported; run the same command again\n`,
      })
      expect(await contents({ run })).toEqual(before)

      // Without --atomic, the batches before it stay.
      expect(await issues(folder, ...command)).toMatchObject({ code: 1, err: expect.stringContaining('800 issues') })
      await run(kind === MARIADB ? 'drop trigger takes_last' : 'drop trigger takes_last on host_issues')
      await run('delete from host_deleted_issues')
      expect(await issues(folder, ...command, '--atomic')).toEqual({ code: 0, err: '' })
      expect(await run('select issue_index from host_issues')).toHaveLength(ISSUES)
    })
  })
}
