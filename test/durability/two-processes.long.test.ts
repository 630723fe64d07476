import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Actor, Services } from '../../src/index.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { ForgeUnderTest } from '../model/forge-under-test.ts'
import { replay } from '../model/replay.ts'
import { MAX_PINS } from '../model/world.ts'
import { startTalkingChild } from './child-process.ts'

const ROUNDS = process.env['FORGELET_TEST_LONG'] === '1' ? 20 : 4
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for
const folder = mkdtempSync(join(tmpdir(), 'forgelet-two-processes-'))
const BOARD = { repositoryId: '10', kind: 'issue' } as const

afterAll(() => rmSync(folder, { recursive: true }))

test('two processes with a hundred pins, moves and unpins each never exceed the limit, and only the rules refuse', {
  timeout: MAX_TEST_MS,
}, async () => {
  const file = join(folder, 'forge.sqlite')
  const subject = new ForgeUnderTest(sqliteStorage(file))
  await subject.migrate()
  const children = await Promise.all([1, 2].map(() => startTalkingChild('pin-storm.mjs', file)))

  let storming = true
  const watched = watch(subject.forge, () => storming)
  const outcomes: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const said = await Promise.all(children.map((child) => child.ask(`round ${round}`)))
    outcomes.push(...said.flatMap((line): string[] => JSON.parse(line).outcomes))
  }
  storming = false
  const looks = await watched
  await Promise.all(children.map((child) => child.end()))

  expect(outcomes).toHaveLength(2 * 100 * ROUNDS)
  expect(new Set([...outcomes, 'done', 'PIN_LIMIT_REACHED', 'ISSUE_NOT_PINNED'])).toEqual(
    new Set(['done', 'PIN_LIMIT_REACHED', 'ISSUE_NOT_PINNED']),
  )
  expect(looks).toBeGreaterThan(0)
  const reported = replay(await subject.events(), () => 'board')
  const board = await subject.forge.pins.list('system', BOARD)
  expect(board.map((pin) => pin.issueId)).toEqual(reported.boards.get('board') ?? [])
  await subject.forge.close()
})

/** Reads the board again and again, from outside both processes; returns how often. */
async function watch({ pins }: Pick<Services<Actor>, 'pins'>, goesOn: () => boolean): Promise<number> {
  let looks = 0
  while (goesOn()) {
    const board = await pins.list('system', BOARD)
    expect(board.length).toBeLessThanOrEqual(MAX_PINS.issue)
    expect(board.map((pin) => pin.position)).toEqual(board.map((_, index) => index + 1))
    expect(new Set(board.map((pin) => pin.issueId)).size).toBe(board.length)
    looks += 1
    await new Promise((done) => setImmediate(done))
  }
  return looks
}
