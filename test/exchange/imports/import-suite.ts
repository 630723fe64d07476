import { beforeAll, describe, expect, test } from 'vitest'
import type { Actor, ExchangeRecord, Forge, IssueRecord } from '../../../src/index.ts'
import { aComment, allOf, anIssue, commentsOf } from '../../core/exchange/records.ts'

/** A host with a tracker, on one database. */
export interface ImportHost<Tx> {
  readonly forge: Forge<Actor, Tx>
  /** A second forge on the same database, as another process would have it. */
  readonly other: Forge<Actor, Tx>
  /** Runs work in a transaction of the host, and commits it or rolls it back. */
  inTransaction<T>(end: 'commit' | 'rollback', work: (transaction: Tx) => Promise<T>): Promise<T>
  /** Every row of every table. */
  contents(): Promise<unknown>
}

const none = { created: 0, updated: 0, unchanged: 0, skipped: 0 }

/** What an import does on a database with transactions. */
export function importSuite<Tx>(where: string, open: () => Promise<ImportHost<Tx>>): void {
  describe(`an import ${where}`, () => {
    let host: ImportHost<Tx>
    let repositories = 100

    beforeAll(async () => {
      host = await open()
    })

    const newRepository = (): number => {
      repositories += 1
      return repositories
    }
    const numbersIn = async (repositoryId: number): Promise<readonly number[]> =>
      (await allOf(host.forge.exchange.export('system', repositoryId))).map(({ number }) => number)

    test('is exported as it was imported, and changes nothing the second time', async () => {
      const repositoryId = newRepository()
      const records: readonly (ExchangeRecord | IssueRecord)[] = [
        ...Array.from({ length: 30 }, (_, index) => anIssue(30 - index, { title: `${index}\r\n'"\\ \u2028 🐟` })),
        ...commentsOf(aComment(3, 'a'), aComment(7, 'b')),
      ]
      await host.forge.exchange.import('system', { repositoryId, records }, { batch: 7 })
      const before = await host.contents()
      const report = await host.forge.exchange.import('system', { repositoryId, records }, { batch: 11 })

      expect([report.issues, report.comments]).toEqual([
        { ...none, unchanged: 30 },
        { ...none, unchanged: 2 },
      ])
      expect(await host.contents()).toEqual(before)
      expect(await allOf(host.forge.exchange.export('system', repositoryId))).toEqual(records.slice(0, 30).toReversed())
    })

    test('that a conflict ends keeps the batches before, and nothing of its own', async () => {
      const repositoryId = newRepository()
      await host.forge.exchange.import('system', { repositoryId, records: [anIssue(5)] })
      const records = [anIssue(1), anIssue(2), anIssue(3), anIssue(5, { title: 'Another' })]

      await expect(host.forge.exchange.import('system', { repositoryId, records }, { batch: 2 })).rejects.toMatchObject(
        {
          code: 'IMPORT_CONFLICT',
        },
      )
      expect(await numbersIn(repositoryId)).toEqual([1, 2, 5])
    })

    test('inspects without a row', async () => {
      const before = await host.contents()
      const report = await host.forge.exchange.inspect('system', {
        repositoryId: newRepository(),
        records: [anIssue(1), anIssue(2)],
      })

      expect(report.issues).toEqual({ ...none, created: 2 })
      expect(await host.contents()).toEqual(before)
    })

    test("in the host's transaction is committed and rolled back with it", async () => {
      const repositoryId = newRepository()
      const records = [anIssue(1), anIssue(2), anIssue(3)]
      const before = await host.contents()
      const work = (transaction: Tx) =>
        host.forge.withTransaction(transaction, (inside) =>
          inside.exchange.import('system', { repositoryId, records }, { batch: 1 }),
        )
      expect((await host.inTransaction('rollback', work)).value.issues).toEqual({ ...none, created: 3 })
      expect(await host.contents()).toEqual(before)

      expect((await host.inTransaction('commit', work)).value.issues).toEqual({ ...none, created: 3 })
      expect(await numbersIn(repositoryId)).toEqual([1, 2, 3])
    })

    test("in the host's transaction leaves nothing if its last batch has a conflict", async () => {
      const repositoryId = newRepository()
      await host.forge.exchange.import('system', { repositoryId, records: [anIssue(9)] })
      const before = await host.contents()
      const records = [anIssue(1), anIssue(2), anIssue(9, { title: 'Another' })]
      const failed = host.inTransaction('rollback', (transaction) =>
        host.forge.withTransaction(transaction, (inside) =>
          inside.exchange.import('system', { repositoryId, records }, { batch: 1 }),
        ),
      )

      await expect(failed).rejects.toMatchObject({ code: 'IMPORT_CONFLICT' })
      expect(await host.contents()).toEqual(before)
    })

    importsAtOnce(() => host, newRepository)
    importRaces(() => host, newRepository)

    test('into a repository that was deleted meanwhile is REPOSITORY_NOT_FOUND', async () => {
      const repositoryId = newRepository()
      const { forge, other } = host
      async function* records() {
        yield anIssue(1)
        await other.lifecycle.repositoryDeleted(repositoryId)
        yield anIssue(2)
      }
      const failed = forge.exchange.import('system', { repositoryId, records: records() }, { batch: 1 })

      await expect(failed).rejects.toMatchObject({ code: 'REPOSITORY_NOT_FOUND' })
      expect(await numbersIn(repositoryId)).toEqual([1])
    })
  })
}

function importsAtOnce<Tx>(hostOf: () => ImportHost<Tx>, newRepository: () => number): void {
  test('of one document by two forges at once ends well in both, and writes nothing twice', async () => {
    const { forge, other } = hostOf()
    const repositoryId = newRepository()
    const records = [
      ...Array.from({ length: 60 }, (_, index) => anIssue(index + 1)),
      ...commentsOf(...Array.from({ length: 30 }, (_, index) => aComment(index + 1, 'a'))),
    ]
    const reports = await Promise.all(
      [forge, other].map(({ exchange }) => exchange.import('system', { repositoryId, records }, { batch: 4 })),
    )
    const sum = (kind: 'issues' | 'comments', count: 'created' | 'unchanged'): number =>
      reports.reduce((total, report) => total + report[kind][count], 0)

    expect([sum('issues', 'created'), sum('issues', 'unchanged')]).toEqual([60, 60])
    expect([sum('comments', 'created'), sum('comments', 'unchanged')]).toEqual([30, 30])
    const exported = await allOf(forge.exchange.exportAll('system', repositoryId))
    expect(exported.length).toBe(90)
  })
}

function importRaces<Tx>(hostOf: () => ImportHost<Tx>, newRepository: () => number): void {
  test.each([1, 2, 4, 7])(
    'races pins of its issues and the deletion of its repository after batch %i: nothing is stored behind the deletion',
    async (batch) => {
      const { forge, other } = hostOf()
      const repositoryId = newRepository()
      const records = Array.from({ length: 40 }, (_, index) => anIssue(index + 1))
      const issue = (number: number) => ({ id: repositoryId * 1000 + number, repositoryId, kind: 'issue' as const })
      const beside: Promise<readonly PromiseSettledResult<unknown>[]>[] = []
      let batches = 0
      const onBatch = (): void => {
        batches += 1
        const { pins } = batches % 2 === 0 ? forge : other
        beside.push(Promise.allSettled([pins.pin('system', issue(batches)), pins.unpin('system', issue(batches - 1))]))
        if (batches === batch) beside.push(Promise.allSettled([other.lifecycle.repositoryDeleted(repositoryId)]))
      }
      const importing = forge.exchange.import('system', { repositoryId, records }, { batch: 4, onBatch })
      const ended = await Promise.allSettled([importing])
      const outcomes = [...ended, ...(await Promise.all(beside)).flat()]
      const { items } = await forge.events.list({ repositoryId }, { limit: 1000 })
      const events = items.toSorted((one, other) => Number(one.id) - Number(other.id))
      const types = events.map(({ type }) => type)
      const imported = events.flatMap((event) => (event.type === 'issues.imported' ? [event.data.created] : []))

      for (const outcome of outcomes) {
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({ code: expect.stringMatching(REFUSED) })
      }
      expect(types.filter((type) => type === 'repository.deleted')).toHaveLength(1)
      expect(types.at(-1)).toBe('repository.deleted')
      const stored = await allOf(other.exchange.export('system', repositoryId))
      expect(stored.map(({ number }) => number)).toEqual(
        records.slice(0, 4 * imported.length).map(({ number }) => number),
      )
      expect(imported.every((count) => count === 4)).toBe(true)
    },
  )
}

/** The repository is gone, or a pin and an unpin came in another order. */
const REFUSED = /^(REPOSITORY_NOT_FOUND|ISSUE_NOT_PINNED|PIN_LIMIT_REACHED)$/
