// The example imports the package by its name, and so what is built in dist/.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { holdsWhatWasAcknowledged } from '../durability/acknowledged.ts'
import type { ForgeDatabase } from '../durability/forge-databases.ts'
import { emptyMariadb, emptyPostgres } from '../durability/forge-databases.ts'
import { fixtureOfLanes, idsOfLanes } from '../durability/lane-fixture.ts'
import type { Phase } from '../durability/outage-lanes.ts'
import { MAX_PINS, newReport, runLanes } from '../durability/outage-lanes.ts'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import type { RunningExample } from './running-example.ts'
import { startExample } from './running-example.ts'

const LANES = 8
const UP: Phase = { server: 'up' }

onServer(SERVERS.postgres, (url) => manyProcesses(() => emptyPostgres(url)))
onServer(SERVERS.mariadb, (url) => manyProcesses(() => emptyMariadb(url)))

function manyProcesses(makeDatabase: () => Promise<ForgeDatabase>): void {
  let folder: string
  let database: ForgeDatabase
  let example: RunningExample

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'forgelet-many-processes-'))
    writeFileSync(join(folder, 'lanes.json'), JSON.stringify(fixtureOfLanes(LANES)))
    database = await makeDatabase()
    const args = ['--fixture', join(folder, 'lanes.json'), '--max-pins', String(MAX_PINS)]
    example = await startExample('many-processes/start.mjs', { FORGELET_DB: database.at, PROCESSES: '2' }, args)
  })

  afterAll(async () => {
    await example?.stop()
    await database?.drop()
    rmSync(folder, { recursive: true })
  })

  test('clients do not notice that every process is restarted under load', async () => {
    const before = pids(example)
    const report = newReport(LANES)
    let isOver = false
    const lanes = runLanes(
      { urls: [example.url], count: LANES, phase: () => UP, isAway: () => false, last: () => isOver },
      report,
    )
    try {
      await expect.poll(() => report.acknowledged, { timeout: 20_000 }).toBeGreaterThan(2 * LANES)
      example.signal('SIGHUP')
      await expect.poll(() => example.said.at(-1), { timeout: 60_000 }).toBe('every process was restarted')
    } finally {
      isOver = true
      await lanes
    }

    expect(report.wrong).toEqual([])
    expect(report.switches.filter(({ isOn }) => isOn === undefined)).toEqual([])
    expect(pids(example).filter((pid) => before.includes(pid))).toEqual([])
    await holdsWhatWasAcknowledged(database, report, idsOfLanes(LANES))
  }, 120_000)

  test('a process that is killed is replaced, and links lead to the proxy', async () => {
    const [first = 0] = pids(example)
    process.kill(first, 'SIGKILL')
    await expect.poll(() => pids(example).includes(first), { timeout: 60_000 }).toBe(false)

    const headers = { authorization: 'token token' }
    const pin = await fetch(`${example.url}/repos/o20/r10/issues/100/pin`, { method: 'POST', headers })
    const list = await fetch(`${example.url}/repos/o20/r10/issues/pinned`)
    expect([pin.status, list.status]).toEqual([204, 200])
    const [issue]: readonly { readonly url: string }[] = JSON.parse(await list.text())
    expect(issue?.url).toContain(`${example.url}/repos/o20/r10/issues/`)
  }, 120_000)
}

/** The processes that serve now: the last two that the example has named. */
function pids({ said }: RunningExample): readonly number[] {
  return said
    .flatMap((line) => /^process (\d+) serves /.exec(line)?.[1] ?? [])
    .map(Number)
    .slice(-2)
}
