import { expect, test } from 'vitest'
import { anIssue } from '../../core/exchange/records.ts'
import { openHost } from './sqlite-host.ts'

const none = { created: 0, updated: 0, unchanged: 0, skipped: 0 }

test('an import changes nothing the second time', async () => {
  const { forge, contents } = await openHost()
  const records = Array.from({ length: 50 }, (_, index) => anIssue(50 - index))
  await forge.exchange.import('system', { repositoryId: 10, records }, { batch: 7 })
  const before = contents()

  expect((await forge.exchange.import('system', { repositoryId: 10, records })).issues).toEqual({
    ...none,
    unchanged: 50,
  })
  expect(contents()).toEqual(before)
})

test('an import in a synchronous transaction is rolled back and committed with it', async () => {
  const { handle, forge, contents } = await openHost()
  const records = [anIssue(1), anIssue(2), anIssue(3)]
  const before = contents()
  const work = () =>
    forge.withTransactionSync(handle, ({ exchange }) =>
      exchange.import('system', { repositoryId: 10, records }, { batch: 1 }),
    )
  handle.exec('begin immediate')
  expect(work().value.issues).toEqual({ ...none, created: 3 })
  handle.exec('rollback')
  expect(contents()).toEqual(before)

  const { value } = handle.transaction(work).immediate()
  expect(value.issues).toEqual({ ...none, created: 3 })
  expect(handle.prepare('select count(*) from tracked_issues').pluck().get()).toBe(3)
})

test('an import in a synchronous transaction notifies listeners after the commit', async () => {
  const { handle, forge } = await openHost()
  const types: string[] = []
  forge.events.on(({ type }) => types.push(type))
  const { afterCommit } = handle
    .transaction(() =>
      forge.withTransactionSync(handle, ({ exchange }) =>
        exchange.import('system', { repositoryId: 10, records: [anIssue(1), anIssue(2)] }, { batch: 1 }),
      ),
    )
    .immediate()
  expect(types).toEqual([])
  afterCommit()

  expect(types).toEqual(['issues.imported', 'issues.imported'])
})

test('a conflict in the last batch of a synchronous transaction leaves the database as it was', async () => {
  const { handle, forge, contents } = await openHost()
  await forge.exchange.import('system', { repositoryId: 10, records: [anIssue(9)] })
  const before = contents()
  const records = [anIssue(1), anIssue(2), anIssue(9, { title: 'Another' })]
  const atomic = handle.transaction(() =>
    forge.withTransactionSync(handle, ({ exchange }) =>
      exchange.import('system', { repositoryId: 10, records }, { batch: 1 }),
    ),
  )

  expect(() => atomic.immediate()).toThrow('issue 9 exists and differs in title')
  expect(contents()).toEqual(before)
})

test('records that wait are refused in a synchronous transaction', async () => {
  const { handle, forge, contents } = await openHost()
  const before = contents()
  async function* records() {
    yield anIssue(1)
  }
  const waiting = handle.transaction(() =>
    forge.withTransactionSync(handle, ({ exchange }) =>
      exchange.import('system', { repositoryId: 10, records: records() }),
    ),
  )

  expect(() => waiting.immediate()).toThrow('request.records must be an iterable that does not wait')
  expect(contents()).toEqual(before)
})

test('an inspection in a synchronous transaction sees what was imported there', async () => {
  const { handle, forge } = await openHost()
  const { value } = handle
    .transaction(() =>
      forge.withTransactionSync(handle, ({ exchange }) => {
        const request = { repositoryId: 10, records: [anIssue(1)] }
        exchange.import('system', request)
        return exchange.inspect('system', request)
      }),
    )
    .immediate()

  expect(value.issues).toEqual({ ...none, unchanged: 1 })
})

test('inside a transaction there is no export', async () => {
  const { handle, forge } = await openHost()
  const { value } = handle
    .transaction(() => forge.withTransactionSync(handle, ({ exchange }) => Object.keys(exchange)))
    .immediate()

  expect(value).toEqual(['import', 'inspect'])
})
