import { expect, test } from 'vitest'
import type { ExchangeRecord, ImportOptions, IssueRecord } from '../../../src/index.ts'
import { allOf, anIssue } from '../../core/exchange/records.ts'
import type { DatabaseSuite } from '../../databases.ts'
import { SQLITE } from '../../databases.ts'
import type { ImportHost } from './import-host.ts'
import { importHost } from './import-host.ts'

type Records = readonly (ExchangeRecord | IssueRecord)[]

const none = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
const repositoryId = 10

function importing<Tx>({ forge }: ImportHost<Tx>, records: Records, options?: ImportOptions) {
  return forge.exchange.import('system', { repositoryId, records }, options)
}

async function numbersIn<Tx>({ other }: ImportHost<Tx>): Promise<readonly number[]> {
  return (await allOf(other.exchange.export('system', repositoryId))).map(({ number }) => number)
}

/** What an import does on a database. */
export const importSuite: DatabaseSuite = (open, kind) => {
  test.each([1, 2, 4, 7])(
    'an import races pins and the deletion of its repository after batch %i: nothing is stored behind the deletion',
    async (batch) => {
      const host = await importHost(await open())
      const { forge, other } = host
      const records = Array.from({ length: 40 }, (_, index) => anIssue(index + 1))
      const issue = (id: number) => ({ id, repositoryId, kind: 'issue' as const })
      const beside: Promise<readonly PromiseSettledResult<unknown>[]>[] = []
      let batches = 0
      const onBatch = (): void => {
        batches += 1
        const { pins } = batches % 2 === 0 ? forge : other
        beside.push(Promise.allSettled([pins.pin('system', issue(batches)), pins.unpin('system', issue(batches - 1))]))
        if (batches === batch) beside.push(Promise.allSettled([other.lifecycle.repositoryDeleted(repositoryId)]))
      }
      const ended = await Promise.allSettled([importing(host, records, { batch: 4, onBatch })])
      const outcomes = [...ended, ...(await Promise.all(beside)).flat()]
      const { items } = await forge.events.list({ repositoryId }, { limit: 1000 })
      const events = items.toSorted((one, next) => Number(one.id) - Number(next.id))
      const types = events.map(({ type }) => type)
      const imported = events.flatMap((event) => (event.type === 'issues.imported' ? [event.data.created] : []))

      for (const outcome of outcomes) {
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({ code: expect.stringMatching(REFUSED) })
      }
      expect(types.filter((type) => type === 'repository.deleted')).toHaveLength(1)
      expect(types.at(-1)).toBe('repository.deleted')
      expect(imported.every((count) => count === 4)).toBe(true)
      expect(await numbersIn(host)).toEqual(records.slice(0, 4 * imported.length).map(({ number }) => number))
    },
  )

  if (kind.name === SQLITE.name) return // its transactions are synchronous: import.test.ts

  test('an import in the transaction of the host is committed and rolled back with it', async () => {
    const database = await open()
    const host = await importHost(database)
    const records = [anIssue(1), anIssue(2), anIssue(3)]
    const before = await host.contents()
    for (const end of ['rollback', 'commit'] as const) {
      const begun = await database.begun()
      const { value } = await host.forge.withTransaction(begun.transaction, ({ exchange }) =>
        exchange.import('system', { repositoryId, records }, { batch: 1 }),
      )
      expect(value.issues).toEqual({ ...none, created: 3 })
      await begun[end]()
      if (end === 'rollback') expect(await host.contents()).toEqual(before)
    }

    expect(await numbersIn(host)).toEqual([1, 2, 3])
  })
}

/** The repository is gone, or a pin and an unpin came in another order. */
const REFUSED = /^(REPOSITORY_NOT_FOUND|ISSUE_NOT_PINNED|PIN_LIMIT_REACHED)$/
