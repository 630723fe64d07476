import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openStandalone } from '../../../app/standalone/standalone.ts'
import { FOLDERS } from '../../exchange/forges/samples.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder, runForgelet } from '../../start-forgelet.ts'

const issue = (number: number) => ({ ...fullIssue, number, title: `Issue ${number}` })
const SOURCES = { document: { 'issues.json': JSON.stringify([issue(1), issue(7), issue(3)]) }, ...FOLDERS }

/** Returns the rows of every table, without the time at which an event was written. */
function tablesOf(file: string): { readonly [table: string]: readonly unknown[] } {
  const database = new Database(file)
  try {
    const names = database.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all()
    database.prepare('update forgelet_events set at = 0').run()
    return Object.fromEntries(names.map((name) => [name, database.prepare(`select * from "${name}"`).all()]))
  } finally {
    database.close()
  }
}

test.each(Object.entries(SOURCES))('a %s and the dump of it become the same rows', async (form, files) => {
  const folder = await newFolder()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, 'source', name)), { recursive: true })
    await writeFile(join(folder, 'source', name), text)
  }
  const fixture = { users: [{ username: 'acme' }], repositories: [{ owner: 'acme', name: 'rocket' }] }
  await (await openStandalone({ db: join(folder, 'source.sqlite'), fixture })).close()
  await cp(join(folder, 'source.sqlite'), join(folder, 'dump.sqlite'))
  const issues = async (...args: readonly string[]) => {
    const ended = await runForgelet(['issues', ...args, '--repo', 'acme/rocket'], { folder })
    expect(ended).toMatchObject({ code: 0 })
  }
  const source = [form === 'document' ? 'source/issues.json' : 'source', '--source-repo', 'acme/rocket']
  await issues('convert', ...source, '-o', 'dump', '--to', 'gitea-dump')
  await issues('import', ...source, '--db', 'source.sqlite')
  await issues('import', 'dump', '--db', 'dump.sqlite')

  const [imported, again] = ['source.sqlite', 'dump.sqlite'].map((name) => tablesOf(join(folder, name)))
  expect(again?.['host_issues']?.length).toBeGreaterThan(0)
  expect(again).toEqual(imported)
})
