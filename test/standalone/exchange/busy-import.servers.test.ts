import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MARIADB, newDatabase, onDatabases, POSTGRES, SQLITE } from '../../databases.ts'
import { startForgelet } from '../../start-forgelet.ts'
import { issueRecord } from '../../world.ts'

/** Longer than a call may take. */
const HELD_MS = 7000

const REPOSITORIES = ['one', 'two', 'three', 'four', 'five', 'six']
const FIXTURE = {
  users: [{ username: 'ada', tokens: ['ada-token'] }],
  repositories: REPOSITORIES.map((name) => ({ owner: 'ada', name })),
}

/** Imports issues with labels, milestones and long texts. Returns the status and the report. */
async function imported(url: string, repository: string, count: number): Promise<readonly unknown[]> {
  const records = Array.from({ length: count }, (_, at) => ({
    ...issueRecord(at + 1),
    content: 'It does not fly. '.repeat(100),
    labels: [{ name: `${repository} ${at % 30}` }],
    milestone: `${repository} ${at % 7}`,
  }))
  const reply = await fetch(`${url}/repos/ada/${repository}/issues/import`, {
    method: 'POST',
    headers: { authorization: 'token ada-token' },
    body: JSON.stringify(records),
  })
  return [reply.status, await reply.json()]
}

onDatabases([SQLITE, POSTGRES, MARIADB], (_open, kind) => {
  test('an import waits for an account or a repository that another transaction holds for longer than a call may take', async () => {
    const waiting = ['host_accounts', 'host_repositories'].map(async (table) => {
      const database = await newDatabase(kind)
      const { url } = await startForgelet(['--db', database.url], { fixture: FIXTURE })
      const other = await database.begun()
      await other.run(`update ${table} set name = name`)
      const importing = imported(url, 'one', 1)
      await after(HELD_MS)
      await other.rollback()
      return importing
    })

    for (const ended of await Promise.all(waiting)) expect(ended).toMatchObject([200, { issues: { created: 1 } }])
  })
})

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test('six large imports into different repositories at once all succeed, in two processes', async () => {
    const database = await newDatabase(kind)
    const { url } = await startForgelet(['--db', database.url], { fixture: FIXTURE })
    const other = await startForgelet(['--db', database.url])
    const all = REPOSITORIES.map((name, at) => imported(at % 2 === 0 ? url : other.url, name, 500))

    expect(await Promise.all(all)).toMatchObject(REPOSITORIES.map(() => [200, { issues: { created: 500 } }]))
    const [counts] = await database.run('select count(distinct id) as ids, count(*) as issues from host_issues')
    expect([Number(counts?.['ids']), Number(counts?.['issues'])]).toEqual([3000, 3000])
  })
})
