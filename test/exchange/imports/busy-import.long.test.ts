import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { anIssue } from '../../core/exchange/records.ts'
import { openHost } from './sqlite-host.ts'

// The storage itself waits for five seconds.
test('a busy database is waited for', async () => {
  const { handle, forge } = await openHost()
  const writer = new Database(handle.name, { timeout: 0 })
  onTestFinished(() => void writer.close())
  writer.exec('begin immediate')
  const importing = forge.exchange.import('system', { repositoryId: 10, records: [anIssue(1)] })
  setTimeout(() => writer.exec('rollback'), 5600)

  expect((await importing).issues).toEqual({ created: 1, updated: 0, unchanged: 0, skipped: 0 })
}, 15_000)
