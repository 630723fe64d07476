// Builds of the command as other releases have it, on one database: the tables of the host and those of the forge.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Running } from '../../cli/command.ts'
import { runCommand, startServe } from '../../cli/command.ts'
import { holdsWhatWasAcknowledged } from '../../durability/acknowledged.ts'
import type { ForgeDatabase } from '../../durability/forge-databases.ts'
import { emptyMariadb, emptyPostgres, emptySqlite } from '../../durability/forge-databases.ts'
import { fixtureOfLanes, idsOfLanes } from '../../durability/lane-fixture.ts'
import type { Phase } from '../../durability/outage-lanes.ts'
import { MAX_PINS, newReport, runLanes } from '../../durability/outage-lanes.ts'
import { onServer, SERVERS } from '../../storage/databases/servers.ts'
import { buildFirstCommand, buildNextCommand, removeCommands } from './build-command.ts'

const LANES = 4
const UP: Phase = { server: 'up' }

let folder: string
let first: string
let nextMinor: string
let nextMajor: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'forgelet-host-releases-'))
  writeFileSync(join(folder, 'lanes.json'), JSON.stringify(fixtureOfLanes(LANES)))
  first = await buildFirstCommand()
  nextMinor = await buildNextCommand('minor')
  nextMajor = await buildNextCommand('major')
}, 120_000)

afterAll(() => {
  rmSync(folder, { recursive: true })
  removeCommands()
})

describe('on SQLite', () => releases(emptySqlite))
onServer(SERVERS.postgres, (url) => releases(() => emptyPostgres(url)))
onServer(SERVERS.mariadb, (url) => releases(() => emptyMariadb(url)))

function releases(makeDatabase: () => Promise<ForgeDatabase>): void {
  test('a server of the first release serves on while this one brings the tables up to date, and both change them', async () => {
    const database = await newDatabase(makeDatabase)
    const old = await serve(database, first)
    await changedThrough(database, old, () => serve(database))

    const { code, out, err } = await runCommand(folder, argsFor(database), first)
    expect([code, out, err]).toEqual([3, '', expect.stringContaining('newer than this release supports')])
  }, 120_000)

  test('a server of this release starts and serves beside a minor release after it', async () => {
    const database = await newDatabase(makeDatabase)
    const ours = await serve(database)
    await changedThrough(database, ours, () => serve(database, nextMinor))

    const again = await serve(database)
    expect((await fetch(`${again.url}/repos/o20/r10/issues/pinned`)).status).toBe(200)
  }, 120_000)

  test('a server of this release does not start on the tables of a major release after it', async () => {
    const database = await newDatabase(makeDatabase)
    await (await serve(database, nextMajor)).stop()

    const { code, out, err } = await runCommand(folder, argsFor(database))
    expect([code, out, err]).toEqual([3, '', expect.stringContaining('newer than this release supports')])
  }, 120_000)
}

async function newDatabase(makeDatabase: () => Promise<ForgeDatabase>): Promise<ForgeDatabase> {
  const database = await makeDatabase()
  onTestFinished(() => database.drop())
  return database
}

function argsFor({ at }: ForgeDatabase): readonly string[] {
  return ['serve', '--port', '0', '--db', at, '--fixture', 'lanes.json', '--max-pins', String(MAX_PINS)]
}

/** Starts a server of a release, by default of this one; it is stopped when the test ends. */
async function serve(database: ForgeDatabase, program?: string): Promise<Running> {
  const running = await startServe(folder, argsFor(database).slice(1), undefined, program)
  onTestFinished(async () => void (await running.stop('SIGKILL')))
  return running
}

/** Changes things through a server, then through another too, which starts meanwhile: no request fails. */
async function changedThrough(database: ForgeDatabase, before: Running, start: () => Promise<Running>): Promise<void> {
  const urls = [before.url, before.url]
  const report = newReport(LANES)
  let isOver = false
  const lanes = runLanes({ urls, count: LANES, phase: () => UP, isAway: () => false, last: () => isOver }, report)
  const acknowledged = async (count: number): Promise<void> => {
    const enough = report.acknowledged + count
    await expect.poll(() => report.acknowledged, { timeout: 30_000, interval: 5 }).toBeGreaterThan(enough)
  }
  try {
    await acknowledged(2 * LANES)
    urls[1] = (await start()).url
    await acknowledged(20 * LANES)
  } finally {
    isOver = true
    await lanes
  }
  expect(report.wrong).toEqual([])
  await holdsWhatWasAcknowledged(database, report, idsOfLanes(LANES))
}
