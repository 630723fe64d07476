import { afterAll, describe, test } from 'vitest'
import { storageContract } from '../../../../src/testing/testing.ts'
import { kyselyMariadbKind } from '../../databases/kysely-mariadb.ts'
import { kyselyPgliteKind, kyselyPostgresKind } from '../../databases/kysely-postgres.ts'
import { kyselySqliteKind, sqliteKysely } from '../../databases/kysely-sqlite.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'
import type { StorageKind } from '../../databases/storage-kind.ts'

describe('over SQLite', () => suite(kyselySqliteKind(sqliteKysely)))
describe('over PostgreSQL in this process', () => suite(kyselyPgliteKind()))
onServer(SERVERS.postgres, (url) => suite(kyselyPostgresKind(url)))
onServer(SERVERS.mariadb, (url) => suite(kyselyMariadbKind(url)))

function suite<Tx>({ open, host, end }: StorageKind<Tx>): void {
  afterAll(end)

  for (const each of storageContract(open, host)) test(each.name, each.run)
}
