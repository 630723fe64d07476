import { describe, expect, test } from 'vitest'
import { anIssue } from '../../core/exchange/records.ts'
import { newDatabase, onDatabases, SQLITE } from '../../databases.ts'
import { importHost } from './import-host.ts'
import { importSuite } from './import-suite.ts'

onDatabases([SQLITE], importSuite)

describe('in a synchronous transaction', () => {
  const none = { created: 0, updated: 0, unchanged: 0, skipped: 0 }

  async function openHost() {
    const database = await newDatabase(SQLITE)
    await database.migrated()
    const { forge, contents } = await importHost(database)
    const { transaction: handle } = await database.connect()
    const importing = (records: Iterable<ReturnType<typeof anIssue>>) =>
      forge.withTransactionSync(handle, ({ exchange }) =>
        exchange.import('system', { repositoryId: 10, records }, { batch: 1 }),
      )
    return { handle, forge, contents, importing, before: await contents() }
  }

  test('an import is rolled back and committed with it', async () => {
    const { handle, contents, importing, before } = await openHost()
    const records = [anIssue(1), anIssue(2), anIssue(3)]
    handle.exec('begin immediate')
    expect(importing(records).value.issues).toEqual({ ...none, created: 3 })
    handle.exec('rollback')
    expect(await contents()).toEqual(before)

    const { value } = handle.transaction(importing).immediate(records)
    expect(value.issues).toEqual({ ...none, created: 3 })
    expect(handle.prepare('select count(*) from host_issues').pluck().get()).toBe(3)
  })

  test('records that wait are refused', async () => {
    const { handle, contents, importing, before } = await openHost()
    async function* records() {
      yield anIssue(1)
    }
    const waiting = () => handle.transaction(() => Reflect.apply(importing, undefined, [records()])).immediate()

    expect(waiting).toThrow('request.records must be an iterable that does not wait')
    expect(await contents()).toEqual(before)
  })

  test('an inspection sees what was imported there, and there is no export', async () => {
    const { handle, forge } = await openHost()
    const request = { repositoryId: 10, records: [anIssue(1)] }
    const work = () =>
      forge.withTransactionSync(handle, ({ exchange }) => {
        exchange.import('system', request)
        return { report: exchange.inspect('system', request), methods: Object.keys(exchange) }
      })
    const { report, methods } = handle.transaction(work).immediate().value

    expect(report.issues).toEqual({ ...none, unchanged: 1 })
    expect(methods).toEqual(['import', 'inspect', 'reattribute'])
  })
})
