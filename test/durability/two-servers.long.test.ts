// Two real `forgelet serve` from dist over one SQLite file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { startServe } from '../cli/command.ts'
import { ForgeUnderTest } from '../model/forge-under-test.ts'
import { replay } from '../model/replay.ts'

const ROUNDS = process.env['FORGELET_TEST_LONG'] === '1' ? 10 : 2
const LONGEST = 600_000 // milliseconds: the bound of the long form on a busy machine, never waited for
const folder = mkdtempSync(join(tmpdir(), 'forgelet-two-servers-'))
const ISSUES = '/repos/acme/rocket/issues'

const FIXTURE = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }],
  organizations: [{ name: 'acme', owners: ['alice'] }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [1, 2, 3, 4, 5, 6, 7].map((index) => ({ index, title: `Issue ${index}`, poster: 'alice' })),
    },
  ],
}

/** What a storm may be answered: done, the limit, and the move of what is not pinned. */
const EXPECTED: readonly string[] = ['204', '400 PIN_LIMIT_REACHED', '404 ISSUE_NOT_PINNED']

afterAll(() => rmSync(folder, { recursive: true }))

test('two servers started at once on one empty file answer a hundred pins, moves and unpins each, and no request fails', {
  timeout: LONGEST,
}, async () => {
  writeFileSync(join(folder, 'fixture.json'), JSON.stringify(FIXTURE))
  const start = () => startServe(folder, ['--db', 'forge.sqlite', '--fixture', 'fixture.json'])
  const servers = await Promise.all([start(), start()])

  let storming = true
  const watched = Promise.all(servers.map(({ url }) => watch(url, () => storming)))
  const answers: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const storm = servers.flatMap(({ url }) => Array.from({ length: 100 }, (_, n) => change(url, n)))
    answers.push(...(await Promise.all(storm)))
  }
  storming = false
  await watched
  const ends = await Promise.all(servers.map((server) => server.stop()))

  expect(answers.filter((answer) => !EXPECTED.includes(answer))).toEqual([])
  expect(answers).toContain('204')
  expect(ends.map((end) => end.code)).toEqual([0, 0])
  const subject = new ForgeUnderTest(sqliteStorage(join(folder, 'forge.sqlite')))
  const events = await subject.events()
  const { boards } = replay(events, () => 'board')
  const repositoryId = events.find((event) => event.type === 'issue.pinned')?.repositoryId ?? ''
  const pins = await subject.forge.pins.list('system', { repositoryId, kind: 'issue' })
  expect(pins.map((pin) => pin.issueId)).toEqual(boards.get('board') ?? [])
  await subject.forge.close()
})

async function change(url: string, n: number): Promise<string> {
  const pin = `${ISSUES}/${1 + Math.floor(Math.random() * 7)}/pin`
  if (n % 5 < 2) return answerTo(url, 'POST', pin)
  if (n % 5 < 4) return answerTo(url, 'PATCH', `${pin}/${1 + Math.floor(Math.random() * 4)}`)
  return answerTo(url, 'DELETE', pin)
}

async function answerTo(url: string, method: string, path: string): Promise<string> {
  const response = await fetch(`${url}${path}`, { method, headers: { authorization: 'token alice-token' } })
  const text = await response.text()
  return text === '' ? String(response.status) : `${response.status} ${JSON.parse(text).code}`
}

/** Looks at the board again and again through one server. */
async function watch(url: string, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const response = await fetch(`${url}${ISSUES}/pinned`, { headers: { authorization: 'token alice-token' } })
    expect(response.status).toBe(200)
    const pinned: readonly { readonly number: number; readonly pin_order: number }[] = JSON.parse(await response.text())
    expect(pinned.map((issue) => issue.pin_order)).toEqual(pinned.map((_, index) => index + 1))
    expect(pinned.length).toBeLessThanOrEqual(3)
    expect(new Set(pinned.map((issue) => issue.number)).size).toBe(pinned.length)
  }
}
