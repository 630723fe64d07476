import { expect, onTestFinished, test } from 'vitest'
import type { ExchangeRecord } from '../../src/schema/issue-record.ts'
import type { Standalone } from '../../src/standalone/standalone.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import { startTalkingChild } from './child-process.ts'
import type { ForgeDatabase } from './forge-databases.ts'
import { emptyMariadb, emptyPostgres, emptySqlite } from './forge-databases.ts'

const ISSUES = 150
const FIXTURE = { users: [{ username: 'olga' }], repositories: [{ owner: 'olga', name: 'rocket' }] }

onDatabase('SQLite', emptySqlite)
onServer(SERVERS.postgres, (server) => onDatabase('PostgreSQL', () => emptyPostgres(server)))
onServer(SERVERS.mariadb, (server) => onDatabase('MariaDB', () => emptyMariadb(server)))

function onDatabase(name: string, make: () => Promise<ForgeDatabase>): void {
  test(`two processes that import one document at once into ${name} end well, and nothing is there twice`, async () => {
    const database = await make()
    onTestFinished(() => database.drop())
    const host = await openStandalone({ db: database.at, fixture: FIXTURE })
    const children = await Promise.all(
      [1, 2].map(() => startTalkingChild('importing.mjs', database.at, String(ISSUES))),
    )
    const reports = await Promise.all(children.map((child) => child.ask('import')))
    const found = await all(host)
    const again = await children[0]?.ask('import')
    await Promise.all(children.map((child) => child.end()))

    expect(created(reports, 'issues')).toBe(ISSUES)
    expect(created(reports, 'comments')).toBe(2 * ISSUES)
    expect(created([String(again)], 'issues') + created([String(again)], 'comments')).toBe(0)
    const counts = ['label', 'milestone', 'issue', 'comment'].map(
      (kind) => found.filter((one) => one.kind === kind).length,
    )
    expect(counts).toEqual([6, 3, ISSUES, 2 * ISSUES])
    expect(await all(host)).toEqual(found)
    await host.close()
  })
}

/** How many records several imports have created together. */
function created(reports: readonly string[], kind: 'issues' | 'comments'): number {
  return reports.map((report) => JSON.parse(report)[kind].created).reduce((sum, count) => sum + count, 0)
}

async function all(host: Standalone): Promise<readonly ExchangeRecord[]> {
  const records: ExchangeRecord[] = []
  for await (const record of host.forge.exchange.exportAll('system', '1')) records.push(record)
  return records
}
