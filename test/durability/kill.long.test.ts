import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { ForgeModel } from '../model/forge-model.ts'
import { ForgeUnderTest } from '../model/forge-under-test.ts'
import { replay } from '../model/replay.ts'
import { exitOf, scriptPath } from './child-process.ts'
import { actualLane, actualState, boardOf, LANES, modelLane } from './lanes.ts'
import { reportedSteps } from './reported-steps.ts'

const LONG = process.env['FORGELET_TEST_LONG'] === '1'
const KILLS = LONG ? 50 : 8
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for
const folder = mkdtempSync(join(tmpdir(), 'forgelet-kill-'))

afterAll(() => rmSync(folder, { recursive: true }))

test(`acknowledged changes are complete after SIGKILL, and the events explain the state, ${KILLS} times`, {
  timeout: MAX_TEST_MS,
}, async () => {
  const file = join(folder, 'forge.sqlite')
  let models = new Map(LANES.map((lane) => [lane, new ForgeModel()]))
  let answers = 0

  for (let kill = 0; kill < KILLS; kill++) {
    const said = join(folder, `said-${kill}`)
    await churnAndKill(file, said, kill)
    const reported = reportedSteps(readFileSync(said, 'utf8'))
    const subject = new ForgeUnderTest(sqliteStorage(file))
    await subject.migrate()
    const { forge } = subject

    const next = new Map<string, ForgeModel>()
    for (const [lane, model] of models) {
      const { answered, inFlight } = reported.get(lane) ?? { answered: [], inFlight: undefined }
      for (const { step, outcome } of answered) {
        const answer = model.take(step, 0)
        expect('code' in answer ? answer.code : 'done', `${lane}: ${step.call}`).toBe(outcome)
      }
      answers += answered.length
      const after = new ForgeModel(model.state.copy())
      if (inFlight !== undefined) after.take(inFlight, 0)
      const actual = await actualLane(forge, lane, kill)
      const candidates = [model, after].map((one) => modelLane(one.state, lane, kill))
      expect(candidates, `${lane}, with or without ${inFlight?.call}`).toContainEqual(actual)
      const happened = JSON.stringify(actual) === JSON.stringify(candidates[1])
      next.set(lane, happened ? after : new ForgeModel(model.state.copy()))
    }
    models = next

    const events = await subject.events()
    const replayed = replay(events, boardOf)
    expect(await actualState(forge, replayed)).toEqual(replayed)
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
    await forge.close()
    expect(integrity(file)).toBe('ok')
  }

  expect(answers).toBeGreaterThan(KILLS)
})

/**
 * Runs the churning child on the file and kills it: now and then while it starts, mostly while it works. How much a child
 * does in a time depends on the machine, so one that works is killed behind answers, not behind a time alone.
 */
async function churnAndKill(file: string, said: string, kill: number): Promise<void> {
  const out = openSync(said, 'w')
  const child = spawn(process.execPath, [scriptPath('churn.mjs'), file, String(100 + kill)], {
    stdio: ['ignore', out, 'inherit'],
  })
  closeSync(out)
  const startsAgain = kill % 4 === 3
  while (!startsAgain && answersIn(said) < 2 && child.exitCode === null) await pause(5)
  await pause(Math.random() * 200)
  child.kill('SIGKILL')

  expect(await exitOf(child)).toEqual([null, 'SIGKILL'])
}

function answersIn(said: string): number {
  return readFileSync(said, 'utf8').split('\n< ').length - 1
}

function integrity(file: string): unknown {
  const database = new Database(file)
  try {
    return database.pragma('integrity_check', { simple: true })
  } finally {
    database.close()
  }
}
