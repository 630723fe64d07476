// Four real `forgelet serve` from dist over one database: two at a time are killed, and started again.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Running } from '../cli/command.ts'
import { startServe } from '../cli/command.ts'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import { holdsWhatWasAcknowledged } from './acknowledged.ts'
import type { ForgeDatabase } from './forge-databases.ts'
import { emptyMariadb, emptyPostgres, emptySqlite } from './forge-databases.ts'
import { fixtureOfLanes, idsOfLanes } from './lane-fixture.ts'
import type { LaneReport, Phase } from './outage-lanes.ts'
import { isNotAnswered, MAX_PINS, newReport, runLanes } from './outage-lanes.ts'

const KILLS = process.env['FORGELET_TEST_LONG'] === '1' ? 50 : 4
const SERVERS_OF_FORGE = 4
const KILLERS = 2
const LANES = 8
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgelet-serve-kill-'))
  writeFileSync(join(folder, 'fixture.json'), JSON.stringify(fixtureOfLanes(LANES)))
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('on SQLite', () => killedServers(emptySqlite))
onServer(SERVERS.postgres, (url) => killedServers(() => emptyPostgres(url)))
onServer(SERVERS.mariadb, (url) => killedServers(() => emptyMariadb(url)))

function killedServers(makeDatabase: () => Promise<ForgeDatabase>): void {
  test(`what a server acknowledged is there after its SIGKILL under load, ${KILLS} times, and the other servers never fail`, {
    timeout: MAX_TEST_MS,
  }, async () => {
    const database = await makeDatabase()
    onTestFinished(() => database.drop())
    const args = ['--db', database.at, '--fixture', 'fixture.json', '--max-pins', String(MAX_PINS)]
    const start = () => startServe(folder, args)
    const servers = await Promise.all(Array.from({ length: SERVERS_OF_FORGE }, start))
    const report = newReport(LANES)
    try {
      await underLoad(servers, start, report)
    } finally {
      await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    }
    expect(report.wrong).toEqual([])
    expect(report.refused).toBeGreaterThanOrEqual(KILLS)
    expect(report.acknowledged).toBeGreaterThan((KILLS * LANES) / KILLERS)
    await holdsWhatWasAcknowledged(database, report, idsOfLanes(LANES))
  })
}

/** Kills a server in the middle of its requests and starts another in its place, again and again. */
async function underLoad(servers: Running[], start: () => Promise<Running>, report: LaneReport): Promise<void> {
  const urls = servers.map(({ url }) => url)
  const phases: Phase[] = servers.map(() => ({ server: 'up' }))
  let isOver = false
  const phase = (server: number): Phase => phases[server] ?? { server: 'down' }
  const lanes = runLanes({ urls, count: LANES, phase, isAway: isNotAnswered, last: () => isOver }, report)
  const acknowledged = async (count: number): Promise<void> => {
    const enough = report.acknowledged + count
    while (report.acknowledged < enough) await pause(2)
  }
  /** Kills every second server in turn: starting a process takes most of the time. */
  const kills = async (first: number): Promise<void> => {
    for (let kill = first; kill < KILLS; kill += KILLERS) {
      await acknowledged(LANES + Math.random() * LANES)
      const at = kill % servers.length
      phases[at] = { server: 'changing' }
      await servers[at]?.stop('SIGKILL')
      phases[at] = { server: 'down' }
      const started = await start()
      servers[at] = started
      urls[at] = started.url
      phases[at] = { server: 'up' }
    }
  }
  try {
    await Promise.race([Promise.all([kills(0), kills(1)]), lanes])
  } finally {
    isOver = true
    await lanes
  }
}
