import { expect, test } from 'vitest'
import { anIssue } from '../../core/exchange/records.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES, SQLITE } from '../../databases.ts'
import { importHost } from './import-host.ts'
import { importSuite } from './import-suite.ts'

onDatabases([POSTGRES, MARIADB], importSuite)

// The storage itself waits for five seconds.
test('a busy database is waited for', async () => {
  const database = await newDatabase(SQLITE)
  await database.migrated()
  const { forge } = await importHost(database)
  const writer = await database.begun()
  const importing = forge.exchange.import('system', { repositoryId: 10, records: [anIssue(1)] })
  setTimeout(() => writer.rollback(), 5600)

  expect((await importing).issues).toEqual({ created: 1, updated: 0, unchanged: 0, skipped: 0 })
}, 15_000)
