// The processes run the built package in dist.
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { replay } from '../model/replay.ts'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import type { ForgeDatabase, Place } from './forge-databases.ts'
import { allEvents, emptyMariadb, emptyPostgres, emptySqlite, lookedAt, migrated } from './forge-databases.ts'
import type { ForgeServer } from './forge-servers.ts'
import { startForgeServers } from './forge-servers.ts'
import type { Tally } from './load-writer.ts'
import { EXPECTED, MAX_PINS, write } from './load-writer.ts'

const LONG = process.env['FORGELET_TEST_LONG'] === '1'
const MILLISECONDS = LONG ? 20_000 : 3000
const WRITERS = LONG ? 50 : 20 // at each process
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

describe('on SQLite', () => underLoad(2, emptySqlite))
onServer(SERVERS.postgres, (url) => underLoad(4, () => emptyPostgres(url)))
onServer(SERVERS.mariadb, (url) => underLoad(4, () => emptyMariadb(url)))

function underLoad(processes: number, makeDatabase: () => Promise<ForgeDatabase>): void {
  let database: ForgeDatabase
  let servers: readonly ForgeServer[] = []

  afterEach(async () => {
    await Promise.all(servers.map((server) => server.end()))
    await database.drop()
  })

  test(`${processes} processes with ${WRITERS} writers each on one board and one organization fail no request, and their reports match the data`, {
    timeout: MAX_TEST_MS,
  }, async () => {
    database = await migrated(makeDatabase())
    servers = await startForgeServers(processes, database, { maxPins: MAX_PINS, hasOutages: false })

    const tally = await load(servers)
    tellFigures(database, tally)

    expect(new Map([...tally].filter(([outcome]) => !EXPECTED.has(outcome)))).toEqual(new Map())
    await stateIsWhatWasTold(database, tally)
    expect(await Promise.all(servers.map((server) => server.end()))).toEqual(servers.map(() => 0))
  })
}

async function load(servers: readonly ForgeServer[]): Promise<Tally> {
  const tally: Tally = new Map()
  let lasts = true
  const writers = servers.flatMap(({ url }) => Array.from({ length: WRITERS }, () => write(url, tally, () => lasts)))
  const all = Promise.all(writers)
  await Promise.race([pause(MILLISECONDS), all])
  lasts = false
  await all
  return tally
}

/** The events give the state, one by one, and every answered block and unblock is one of them. */
async function stateIsWhatWasTold(place: Place, tally: Tally): Promise<void> {
  await lookedAt(place, async (forge) => {
    const events = await allEvents(forge)
    const { boards, blocks } = replay(events, () => 'board')
    const pins = await forge.pins.list('system', { repositoryId: '10', kind: 'issue' })
    const blocked = await forge.blocks.list('system', { organizationId: '20', limit: 1000 })
    const count = (type: string) => events.filter((event) => event.type === type).length

    expect(pins.map((pin) => pin.issueId)).toEqual(boards.get('board') ?? [])
    expect(blocked.items.map((block) => block.userId)).toEqual(blocks.get('20') ?? [])
    expect(blocked.total).toBe(blocked.items.length)
    expect(events.length).toBeGreaterThan(0)
    expect(count('user.blocked')).toBe(tally.get('block 204') ?? 0)
    expect(count('user.unblocked')).toBe(tally.get('unblock 204') ?? 0)
  })
}

function tellFigures({ kind }: Place, tally: Tally): void {
  if (process.env['FORGELET_TEST_FIGURES'] !== '1') return

  const answers = [...tally.values()].reduce((sum, count) => sum + count, 0)
  const perSecond = Math.round(answers / (MILLISECONDS / 1000))
  process.stderr.write(`${kind}: ${perSecond} answers a second; ${JSON.stringify(Object.fromEntries(tally))}\n`)
}
