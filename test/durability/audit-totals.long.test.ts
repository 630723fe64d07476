// The sides run the built package in dist.
import { expect, onTestFinished, test } from 'vitest'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import { startTalkingChild } from './child-process.ts'
import type { ForgeDatabase } from './forge-databases.ts'
import { emptyMariadb, emptyPostgres, migrated } from './forge-databases.ts'

const ROUNDS = process.env['FORGELET_TEST_LONG'] === '1' ? 20 : 4
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

onServer(SERVERS.postgres, (url) => countedInTwoProcesses(() => emptyPostgres(url)))
onServer(SERVERS.mariadb, (url) => countedInTwoProcesses(() => emptyMariadb(url)))

function countedInTwoProcesses(empty: () => Promise<ForgeDatabase>): void {
  test('two processes that write, consume, prune and roll back count in every page the events that it lists', {
    timeout: MAX_TEST_MS,
  }, async () => {
    const database = await migrated(empty())
    onTestFinished(() => database.drop())
    const sides = await Promise.all(
      ['1', '2'].map((side) => startTalkingChild('audit-side.mjs', database.kind, database.at, side)),
    )
    for (let round = 0; round < ROUNDS; round += 1) {
      const said = await Promise.all(sides.map((side) => side.ask(`round ${round}`)))
      for (const line of said) {
        const { pages, wrong } = JSON.parse(line)
        expect(wrong).toEqual([])
        expect(pages).toBeGreaterThan(0)
      }
    }
    await Promise.all(sides.map((side) => side.end()))
  })
}
