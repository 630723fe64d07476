// Two real `forgelet serve` from dist over one database.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startServe } from '../cli/command.ts'
import { replay } from '../model/replay.ts'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import type { ForgeDatabase } from './forge-databases.ts'
import { allEvents, emptyMariadb, emptyPostgres, emptySqlite, lookedAt } from './forge-databases.ts'

const EACH = 50 // requests at once at each server
const ROUNDS = process.env['FORGELET_TEST_LONG'] === '1' ? 15 : 3
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for
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

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgelet-two-servers-'))
  writeFileSync(join(folder, 'fixture.json'), JSON.stringify(FIXTURE))
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('on SQLite', () => underStorm(emptySqlite))
onServer(SERVERS.postgres, (url) => underStorm(() => emptyPostgres(url)))
onServer(SERVERS.mariadb, (url) => underStorm(() => emptyMariadb(url)))

function underStorm(makeDatabase: () => Promise<ForgeDatabase>): void {
  test(`two servers started at once on an empty database answer ${2 * EACH * ROUNDS} racing pins, moves and unpins, and no request fails`, {
    timeout: MAX_TEST_MS,
  }, async () => {
    const database = await makeDatabase()
    onTestFinished(() => database.drop())
    const start = () => startServe(folder, ['--db', database.at, '--fixture', 'fixture.json'])
    const servers = await Promise.all([start(), start()])
    try {
      const answers = await storm(servers.map(({ url }) => url))
      expect(answers).toHaveLength(2 * EACH * ROUNDS)
      expect(answers.filter((answer) => !EXPECTED.includes(answer))).toEqual([])
      for (const answer of EXPECTED) expect(answers).toContain(answer)
    } finally {
      const ends = await Promise.all(servers.map((server) => server.stop()))
      expect(ends.map((end) => end.code)).toEqual([0, 0])
    }
    await lookedAt(database, async (forge) => {
      const events = await allEvents(forge)
      const { boards } = replay(events, () => 'board')
      const repositoryId = events.find((event) => event.type === 'issue.pinned')?.repositoryId ?? ''
      const pins = await forge.pins.list('system', { repositoryId, kind: 'issue' })
      expect(pins.map((pin) => pin.issueId)).toEqual(boards.get('board') ?? [])
    })
  })
}

/** Changes one board through every server at once, round after round, while it is read through each. */
async function storm(urls: readonly string[]): Promise<readonly string[]> {
  let storming = true
  const watched = Promise.all(urls.map((url) => watch(url, () => storming)))
  const answers: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const requests = urls.flatMap((url) => Array.from({ length: EACH }, (_, n) => change(url, n)))
    answers.push(...(await Promise.all(requests)))
  }
  storming = false
  await watched
  return answers
}

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

/** Reads the board again and again through one server. */
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
