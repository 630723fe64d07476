import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStandalone } from '../../../src/standalone/standalone.ts'
import { giteaDump, githubComment, githubIssue, gitlabIssue, gitlabMembers } from '../../exchange/forges/samples.ts'
import { runForgelet } from '../../start-forgelet.ts'

// The commands of docs/exchange.md run as they are printed, one section after the other, with what the forges wrote.

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-page-'))
  const files = {
    'github/issues.json': JSON.stringify([githubIssue]),
    'github/comments.json': JSON.stringify([githubComment]),
    'gitlab/tree/project/issues.ndjson': JSON.stringify(gitlabIssue),
    'gitlab/tree/project/project_members.ndjson': gitlabMembers.map((member) => JSON.stringify(member)).join('\n'),
    'users.json': '{"mia": "mia", "ghost": null}',
    ...Object.fromEntries(Object.entries(giteaDump).map(([name, text]) => [`dump/${name}`, text])),
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
})

afterAll(() => rm(folder, { recursive: true }))

async function sections(): Promise<readonly (readonly [heading: string, commands: readonly string[]])[]> {
  const page = await readFile(resolve(import.meta.dirname, '../../../docs/exchange.md'), 'utf8')
  return page.split(/^## /m).map((section) => {
    const commands = [...section.matchAll(/^ *forgelet (issues .*)$/gm)].map(([, command = '']) => command)
    return [section.split('\n')[0] ?? '', commands]
  })
}

test.each(['GitHub', 'GitLab', 'Gitea'])('the commands to move from %s end without an error', async (forge) => {
  const [, commands = []] = (await sections()).find(([heading]) => heading === `Moving from ${forge}`) ?? []
  await rm(join(folder, 'forge.sqlite'), { force: true })
  const fixture = {
    users: [{ username: 'acme' }, { username: 'mia' }],
    repositories: [{ owner: 'acme', name: 'rocket' }],
  }
  await (await openStandalone({ db: join(folder, 'forge.sqlite'), fixture })).close()

  expect(commands.length).toBeGreaterThan(1)
  for (const command of commands) {
    expect([command, await runForgelet(command.split(' '), { folder })]).toEqual([
      command,
      expect.objectContaining({ code: 0 }),
    ])
  }
})
