// The processes run the built package in dist.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { holdsWhatWasAcknowledged } from './acknowledged.ts'
import { answerTo } from './answer-to.ts'
import type { Place } from './forge-databases.ts'
import { onStorage } from './forge-databases.ts'
import type { ForgeServer } from './forge-servers.ts'
import { startForgeServers } from './forge-servers.ts'
import type { LaneReport, Phase } from './outage-lanes.ts'
import { isUnavailable, MAX_PINS, newReport, runLanes } from './outage-lanes.ts'
import { onOwnServer, ownMariadb, ownPostgres } from './own-servers/on-own-server.ts'
import type { OwnServer } from './own-servers/own-server.ts'

const KILLS = process.env['FORGELET_TEST_LONG'] === '1' ? 8 : 1
const LANES = 16
const SETUP = { maxPins: MAX_PINS, hasOutages: true }
const MAX_ANSWER_MS = 5000 // milliseconds
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

onOwnServer('PostgreSQL', ownPostgres(), (start) => onKilledServer('postgres', start, 'fsync=off'))
onOwnServer('MariaDB', ownMariadb(), (start) => onKilledServer('mysql', start, 'innodb-flush-log-at-trx-commit=0'))

function onKilledServer(kind: 'postgres' | 'mysql', start: () => Promise<OwnServer>, unsafe: string): void {
  let server: OwnServer
  let place: Place
  let forges: readonly ForgeServer[] = []

  beforeAll(async () => {
    server = await start()
    place = { kind, at: server.url }
    await onStorage(place, (storage) => storage.migrate())
  })
  afterAll(async () => {
    await Promise.all(forges.map((forge) => forge.end()))
    await server?.drop()
  })

  test(`what was acknowledged is there after SIGKILL, and every request is answered meanwhile, ${KILLS} times`, {
    timeout: MAX_TEST_MS,
  }, async () => {
    forges = await startForgeServers(2, place, SETUP)
    const report = newReport(LANES)

    for (let kill = 0; kill < KILLS; kill++) {
      const before = { ...report }
      await killedUnderLoad(server, forges, report)

      expect(report.wrong).toEqual([])
      expect(report.longest).toBeLessThan(MAX_ANSWER_MS)
      expect(report.refused).toBeGreaterThan(before.refused)
      expect(report.acknowledged).toBeGreaterThan(before.acknowledged)
      expect(forges.map((forge) => forge.isRunning())).toEqual([true, true])
      await holdsWhatWasAcknowledged(place, report)
    }
    tellFigures(kind, report)
    expect(await Promise.all(forges.map((forge) => forge.end()))).toEqual([0, 0])
  })

  test('a process that starts while the server is away answers 503 until it is there', async () => {
    await server.kill()
    forges = await startForgeServers(1, place, SETUP)
    const urls = forges.map((forge) => forge.url)

    expect(await Promise.all(urls.flatMap(readAndWrite))).toEqual([503, 503])
    await server.start()
    expect(await Promise.all(urls.flatMap(readAndWrite))).toEqual([200, 204])
    expect(await Promise.all(forges.map((forge) => forge.end()))).toEqual([0])
  })

  test('a server that may lose what it has committed is warned of, and no other', async () => {
    const warnings = () => onStorage(place, async (storage) => (await storage.schemaStatus()).warnings)
    const [name = ''] = unsafe.split('=')

    expect(await warnings()).toEqual([])
    await server.kill()
    await server.start([unsafe])
    expect(await warnings()).toEqual([expect.stringContaining(name.replaceAll('-', '_'))])
  })
}

/** Kills the server in the middle of a load, and starts it again: from then on every request must be served as before. */
async function killedUnderLoad(server: OwnServer, forges: readonly ForgeServer[], report: LaneReport): Promise<void> {
  const urls = forges.map((forge) => forge.url)
  let phase: Phase = { server: 'up' }
  let isOver = false
  const lanes = runLanes({ urls, count: LANES, phase: () => phase, isAway: isUnavailable, last: () => isOver }, report)
  const acknowledged = async (count: number): Promise<void> => {
    const enough = report.acknowledged + count
    while (report.acknowledged < enough && !isOver) await pause(5)
  }
  const outage = async (): Promise<void> => {
    await acknowledged(50 + Math.random() * 100)
    phase = { server: 'changing' }
    await server.kill()
    phase = { server: 'down' }
    await pause(300)
    phase = { server: 'changing' }
    await server.start()
    phase = { server: 'up' }
    expect(await Promise.all(urls.flatMap(readAndWrite))).toEqual(urls.flatMap(() => [200, 204]))
    await acknowledged(50)
  }

  try {
    await Promise.race([outage(), lanes])
  } finally {
    isOver = true
    await lanes
  }
}

/** The statuses of one read, and of one change that changes nothing. */
function readAndWrite(url: string): readonly Promise<number>[] {
  const requests = [answerTo(url, 'GET', '/orgs/o20/blocks'), answerTo(url, 'DELETE', '/repos/o20/r10/issues/1/pin')]
  return requests.map(async (answer) => (await answer).status)
}

function tellFigures(kind: string, { acknowledged, refused, longest }: LaneReport): void {
  if (process.env['FORGELET_TEST_FIGURES'] !== '1') return

  const slowest = Math.round(longest)
  process.stderr.write(`${kind}: ${acknowledged} changes acknowledged, ${refused} refused, slowest ${slowest} ms\n`)
}
