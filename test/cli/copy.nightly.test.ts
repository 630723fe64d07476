import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES } from '../databases.ts'
import { newFolder, startProgram } from '../start-forgelet.ts'
import { WORLD as fixture } from './small-world.ts'

const ISSUES = 1_000_000
const MAX_MEGABYTES = 150
const MEASURED = 'process.on("exit", () => console.log(process.resourceUsage().maxRSS))'
const CLI = resolve(import.meta.dirname, '../../dist/cli.js')

/** Copies in a process of its own. Returns how many issues there are, and how many megabytes it needed. */
async function copied(from: string, to: string): Promise<readonly [issues: number, megabytes: number]> {
  const args = ['--import', `data:text/javascript,${MEASURED}`, CLI, 'copy', '--json', '--from', from, '--to', to]
  const { code, out, err } = await startProgram(args).ended
  expect([code, err]).toEqual([0, ''])
  const [report = '', peak = ''] = out.split('\n')
  return [JSON.parse(report).rows.issues, Number(peak) / 1024]
}

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test('a million issues are copied within 150 MB, and back', { timeout: 1_200_000 }, async () => {
    const folder = await newFolder()
    const file = join(folder, 'forge.sqlite')
    await (await openStandalone({ db: file, fixture })).close()
    const database = new Database(file)
    database.exec(`
      with recursive n (n) as (select 10 union all select n + 1 from n where n < ${ISSUES + 9})
      insert into host_issues (repository_id, number, kind, state, poster_id, comment_count, branch, record)
      select repository_id, n, kind, state, poster_id, 0, '', json_set(record, '$.number', n, '$.content', hex(randomblob(100)))
      from n join host_issues on host_issues.number = 1`)
    database.close()
    const { url } = await newDatabase(kind)

    for (const [from, to] of [
      [file, url],
      [url, join(folder, 'back.sqlite')],
    ] as const) {
      const [issues, megabytes] = await copied(from, to)
      expect(issues).toBe(ISSUES + 3)
      expect(megabytes).toBeLessThan(MAX_MEGABYTES)
    }
  })
})
