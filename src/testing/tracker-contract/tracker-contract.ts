import { AssertionError } from 'node:assert'
import assert from 'node:assert/strict'
import { canonicalIssue } from '../../exchange/exchange.ts'
import type { Actor, CommentRecord } from '../../index.ts'
import type { ContractCase } from '../contract-case.ts'
import { labelCases, peopleCases } from './label-and-people-cases.ts'
import type { TrackerCase, TrackerHost } from './tracker-host.ts'
import {
  BUG,
  batchOf,
  contextIn,
  EVERY_PLANE,
  exported,
  exportedRecords,
  FULL,
  importAll,
  KEPT,
  mustReturn,
  numbersIn,
  sampleComment,
  sampleIssue,
} from './tracker-samples.ts'

/** The requirements, in the order of a report. */
const CASES: readonly TrackerCase[] = [
  {
    name: 'issues are returned in ascending order, from above a number and up to a limit, or by their numbers',
    fix: 'sort the issues by number, return those above `after` up to `limit`, or those in `numbers` that exist',
    async check(host) {
      await importAll(
        host,
        [3, 1, 20, 10, 2].map((number) => sampleIssue(number)),
      )

      assert.deepEqual(await numbersIn(host, { after: 1, limit: 3 }), [2, 3, 10])
      assert.deepEqual(await numbersIn(host, { numbers: [10, 2, 99] }), [2, 10])
      assert.deepEqual(await numbersIn(host, { after: 0, limit: 1000 }), [1, 2, 3, 10, 20])
    },
  },
  ...KEPT.map(
    ([name, issues]): TrackerCase => ({
      name,
      fix: 'write and issues: store every property of the record, and return it as it was; say in `lacks` what the host cannot have',
      async check(host) {
        await importAll(host, [{ kind: 'milestone', milestone: { title: '1.0', state: 'open' } }, ...issues])

        mustReturn(host, await exported(host), issues.map(canonicalIssue))
      },
    }),
  ),
  ...labelCases,
  {
    name: 'an update replaces the whole issue',
    fix: 'write: in `update`, replace every property, the labels and the assignees: what the record lacks is removed',
    async check(host) {
      await importAll(host, [FULL, sampleIssue(8, { labels: [BUG] })])
      const changed = sampleIssue(7, { title: 'Another title', labels: [{ name: 'other' }] })
      await importAll(host, [changed], { onConflict: 'update' })

      mustReturn(host, await exported(host), [
        canonicalIssue(changed),
        canonicalIssue(sampleIssue(8, { labels: [BUG] })),
      ])
    },
  },
  {
    name: 'comments are returned for each issue, oldest first, with every property',
    fix: 'comments: sort those of the issues in `numbers` by `created`, and return what was written',
    needs: 'comments',
    async check(host) {
      const first = sampleComment(1, {
        content: 'first',
        reactions: [{ user_id: 7, user_name: 'ada', content: 'heart' }],
      })
      const second = sampleComment(1, {
        content: 'second',
        created: '2024-04-04T05:06:07Z',
        updated: '2024-04-04T05:06:07Z',
      })
      const other = sampleComment(2, { content: EVERY_PLANE })
      const comments = [second, first, other].map((comment) => ({ kind: 'comment', comment }) as const)
      await importAll(host, [sampleIssue(1), sampleIssue(2), ...comments])
      const found = (await exportedRecords(host)).flatMap((record) =>
        record.kind === 'comment' ? [record.comment] : [],
      )

      mustReturn(host, found, [first, second, other])
    },
  },
  {
    name: 'an update keeps the comments of the issue',
    fix: 'write: leave the comments of an issue in `update`: only commentUpdates change them',
    needs: 'comments',
    async check(host) {
      await importAll(host, [sampleIssue(1), { kind: 'comment', comment: sampleComment(1) }])
      await importAll(host, [sampleIssue(1, { title: 'Another title' })], { onConflict: 'update' })
      const comments = (await exportedRecords(host)).filter(({ kind }) => kind === 'comment')

      assert.equal(comments.length, 1)
    },
  },
  {
    name: 'a comment that was edited replaces the one that it was',
    fix: 'write: replace the row of `previous` of each of commentUpdates, and insert those of `comments`',
    needs: 'comments',
    async check(host) {
      const comment = (content: string, given: Partial<CommentRecord> = {}) =>
        ({ kind: 'comment', comment: sampleComment(1, { content, ...given }) }) as const
      const others = [
        comment('later', { created: '2024-03-04T05:06:08Z' }),
        comment('by ada', { poster_id: 7, poster_name: 'ada' }),
      ]
      await importAll(host, [sampleIssue(1), comment('as it was'), ...others])
      const edited = comment('as it is', { updated: '2024-06-07T08:09:10Z' })
      await importAll(host, [edited], { onConflict: 'update' })
      const found = (await exportedRecords(host)).flatMap((one) => (one.kind === 'comment' ? [one.comment] : []))

      const byContent = (one: CommentRecord, other: CommentRecord) => (one.content < other.content ? -1 : 1)
      const expected = [edited, ...others].map((one) => one.comment)
      mustReturn(host, found.toSorted(byContent), expected.sort(byContent))
    },
  },
  ...peopleCases,
  {
    name: 'the next issue of the host has a number above every number that was written',
    fix: 'write: raise the next number of the repository above the greatest that was written',
    async check(host) {
      await importAll(host, [sampleIssue(41), sampleIssue(5)])
      const next = await host.createIssue()

      assert.ok(next > 41, `the next number is ${next}`)
    },
  },
  {
    name: 'the next issue of the host has a number above the numbers that were reserved, which are no issues',
    fix: 'reserveNumbers: raise the next number above `upTo`, never lower it, and make no issues',
    needs: 'reserveNumbers',
    async check(host) {
      const leaving = Object.assign([sampleIssue(2)], { greatestLeftOut: () => 40 })
      await importAll(host, leaving)
      await importAll(host, Object.assign([sampleIssue(3)], { greatestLeftOut: () => 4 }))
      const next = await host.createIssue()

      assert.ok(next > 40, `the next number is ${next}`)
      assert.deepEqual(await numbersIn(host, { after: 0, limit: 1000 }), [2, 3, next])
    },
  },
  {
    name: 'a number that the host has given out is an issue or taken',
    fix: 'issues: return { number, taken: true } for a number that the host has given out and that is no issue to export',
    async check(host) {
      const number = await host.createIssue()

      assert.deepEqual(await numbersIn(host, { numbers: [number] }), [number])
    },
  },
  {
    name: 'what is written in a transaction is read in it, and gone when it is rolled back',
    fix: 'run every statement of the tracker on the connection in context.transaction',
    async check(host) {
      const repositoryId = String(host.repositoryId)
      const seen: unknown[] = []
      await host.rolledBack(async (transaction) => {
        await host.tracker.write(batchOf(repositoryId, sampleIssue(1, { labels: [BUG] })), contextIn(transaction))
        seen.push(...(await numbersIn(host, { numbers: [1] }, transaction)))
      })

      assert.deepEqual(seen, [1])
      assert.deepEqual(await exportedRecords(host), [])
    },
  },
]

/**
 * Returns the requirements for the tracker of a host, as plain cases for any test runner. Source: docs/exchange.md,
 * Writing a tracker. The error of a case that fails says how to fix it.
 *
 * @param open - opens a new host each time it is called; the case closes it
 */
export function trackerContract<A extends Actor, Tx>(open: () => Promise<TrackerHost<A, Tx>>): readonly ContractCase[] {
  if (typeof open !== 'function') throw new TypeError('trackerContract needs open, a function that returns a new host')

  return CASES.map((one) => ({ name: one.name, run: () => run(one, open) }))
}

async function run<A extends Actor, Tx>(one: TrackerCase, open: () => Promise<TrackerHost<A, Tx>>): Promise<void> {
  const host = await open()
  try {
    if (one.needs === 'comments' && host.tracker.comments === 'none') return
    if (one.needs !== undefined && host.tracker[one.needs] === undefined) return
    await one.check(host)
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error
    const { message, actual, expected, operator } = error
    throw new AssertionError({ message: `${message}\nfix:      ${one.fix}`, actual, expected, operator })
  } finally {
    await host.close()
  }
}
