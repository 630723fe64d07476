import { afterAll, describe, expect, test } from 'vitest'
import { watchCrowd } from './crowd.ts'
import { mariadbKind } from './databases/mariadb.ts'
import { postgresKind } from './databases/postgres.ts'
import { onServer, SERVERS } from './databases/servers.ts'
import { sqliteFileKind } from './databases/sqlite.ts'
import type { StorageKind } from './databases/storage-kind.ts'

const CHANGES = process.env['FORGELET_TEST_LONG'] === '1' ? 300 : 30
const LONGEST = 600_000 // milliseconds: the bound of the long form on a busy machine, never waited for

describe('in a SQLite file', () => consumedBy(sqliteFileKind()))
onServer(SERVERS.postgres, (url) => consumedBy(postgresKind(url)))
onServer(SERVERS.mariadb, (url) => consumedBy(mariadbKind(url)))

function consumedBy<Tx>(kind: StorageKind<Tx>): void {
  afterAll(kind.end)

  test('three that consume one name beside twenty writers get every committed event once, in order', {
    timeout: LONGEST,
  }, async () => {
    const told = await watchCrowd(kind, CHANGES)

    expect(told.outbox.toSorted()).toEqual(told.committed.toSorted())
    expect(told.consumed).toEqual(told.outbox)
    expect(told.consumers.size).toBeGreaterThan(1)
  })
}
