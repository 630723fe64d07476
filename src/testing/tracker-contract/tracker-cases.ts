import assert from 'node:assert/strict'
import { canonicalIssue } from '../../exchange/exchange.ts'
import type {
  CommentRecord,
  ExchangeRecord,
  IdInput,
  LabelRecord,
  MilestoneRecord,
  ReattributeReport,
} from '../../index.ts'
import type { TrackerCase } from './tracker-host.ts'
import {
  BUG,
  batchOf,
  COMMENT_OF_FORMER,
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
  sorted,
} from './tracker-samples.ts'

/** The requirements, in the order of a report. */
export const trackerCases: readonly TrackerCase[] = [
  {
    name: 'issues are returned in ascending order, from above a number and up to a limit, or by their numbers',
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
      async check(host) {
        await importAll(host, [{ kind: 'milestone', milestone: { title: '1.0', state: 'open' } }, ...issues])

        mustReturn(host, await exported(host), issues.map(canonicalIssue))
      },
    }),
  ),
  {
    name: 'a label that exists is left as it is, and one that is missing is created',
    async check(host) {
      await importAll(host, [sampleIssue(1, { labels: [BUG] })])
      await importAll(host, [
        sampleIssue(2, {
          labels: [
            { ...BUG, color: '000000' },
            { name: 'new', color: 'ffffff' },
          ],
        }),
      ])
      const labels = (await exported(host)).map((issue) => ({ labels: issue.labels }))

      mustReturn(host, labels, [{ labels: [BUG] }, { labels: [BUG, { name: 'new', color: 'ffffff' }] }])
    },
  },
  {
    name: 'labels and milestones that exist are replaced by an update, also on the issues that have them',
    needs: 'labelsAndMilestones',
    async check(host) {
      const labels = [BUG, { name: 'triage', color: 'ededed' }]
      const milestones = [
        { title: '1.0', state: 'open' },
        { title: '2.0', state: 'open' },
      ] as const
      const described = (records: readonly (LabelRecord | MilestoneRecord)[]): readonly ExchangeRecord[] =>
        records.map((one) => ('title' in one ? { kind: 'milestone', milestone: one } : { kind: 'label', label: one }))
      await importAll(host, [...described([...labels, ...milestones]), sampleIssue(1, { labels, milestone: '1.0' })])
      const bug = { name: 'bug', color: '00ff00', description: 'It is fixed.' }
      const done = {
        title: '1.0',
        description: 'The first.',
        deadline: '2024-05-01T00:00:00Z',
        closed: '2024-04-30T00:00:00Z',
        state: 'closed',
      } as const
      await importAll(host, described([bug, done]), { onConflict: 'update' })
      const found = await host.tracker.labelsAndMilestones?.({ repositoryId: String(host.repositoryId) }, contextIn())

      assert.deepEqual(sorted(found?.labels), sorted([bug, ...labels.slice(1)]))
      assert.deepEqual(sorted(found?.milestones), sorted([done, ...milestones.slice(1)]))
      mustReturn(host, await exported(host), [
        canonicalIssue(sampleIssue(1, { labels: [bug, ...labels.slice(1)], milestone: '1.0' })),
      ])
    },
  },
  {
    name: 'an update replaces the whole issue',
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
    needs: 'comments',
    async check(host) {
      await importAll(host, [sampleIssue(1), { kind: 'comment', comment: sampleComment(1) }])
      await importAll(host, [sampleIssue(1, { title: 'Another title' })], { onConflict: 'update' })
      const kinds = (await exportedRecords(host)).map(({ kind }) => kind)

      assert.deepEqual(
        kinds.filter((kind) => kind === 'comment'),
        ['comment'],
      )
    },
  },
  {
    name: 'a comment that was edited replaces the one that it was',
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
  {
    name: 'users are found in the order in which they were asked, and unknown ones are undefined',
    async check(host) {
      const [one, other] = host.users
      const names = [other.name, 'no-such-user', one.name, other.name]
      const asked = names.map((name, index) => ({ id: 900_000_000 + index, name, email: undefined }))
      const found = await host.tracker.findUsers(asked, contextIn())

      const ids = (list: readonly (IdInput | undefined)[]) => list.map((id) => (id === undefined ? id : String(id)))
      assert.deepEqual(ids(found), ids([other.id, undefined, one.id, other.id]))
    },
  },
  {
    name: 'the next issue of the host has a number above every number that was written',
    async check(host) {
      await importAll(host, [sampleIssue(41), sampleIssue(5)])
      const next = await host.createIssue()

      assert.ok(next > 41, `the next number is ${next}`)
    },
  },
  {
    name: 'the next issue of the host has a number above the numbers that were reserved, which are no issues',
    needs: 'reserveNumbers',
    async check(host) {
      const repositoryId = String(host.repositoryId)
      const leaving = Object.assign([sampleIssue(2)], { greatestLeftOut: () => 40 })
      await importAll(host, leaving)
      await importAll(host, Object.assign([sampleIssue(3)], { greatestLeftOut: () => 4 }))
      const next = await host.createIssue()

      assert.ok(next > 40, `the next number is ${next}`)
      const issues = await host.tracker.issues({ repositoryId, after: 0, limit: 1000 }, contextIn())
      assert.deepEqual(
        issues.map(({ number }) => number),
        [2, 3, next],
      )
    },
  },
  {
    name: 'a number that the host has given out is an issue or taken',
    async check(host) {
      const number = await host.createIssue()

      assert.deepEqual(await numbersIn(host, { numbers: [number] }), [number])
    },
  },
  {
    name: 'people are named in the next issues above a number and up to a limit, and with their accounts',
    needs: 'attribution',
    async check(host) {
      const [{ name }] = host.users
      const issues = [3, 1, 20].map((number) => sampleIssue(number, { poster_name: 'no-such-user' }))
      await importAll(host, [...issues, sampleIssue(2, { poster_name: name })], { attribution: 'accounts' })
      await importAll(host, [sampleIssue(4, { poster_name: name })])
      const page = { repositoryId: String(host.repositoryId), after: 1, limit: 3 }
      const named = (await host.tracker.attribution?.named(page, contextIn())) ?? []

      assert.deepEqual(
        named.filter(({ part }) => part === 'issues').map((one) => [one.number, one.name, one.hasAccount]),
        [
          [2, name, true],
          [3, 'no-such-user', false],
          [4, name, false],
        ],
      )
    },
  },
  {
    name: 'people get their accounts wherever they have none, and the records stay as they are',
    needs: 'attribution',
    async check(host) {
      const [one, other] = host.users
      const reactions = [{ user_id: 7, user_name: one.name, content: 'heart' }]
      await importAll(host, [
        sampleIssue(1, { poster_name: one.name, assignees: ['formerly', 'no-such-user'], reactions }),
        sampleIssue(2, { poster_name: 'formerly', assignees: [one.name] }),
        ...(host.tracker.comments === 'none' ? [] : [COMMENT_OF_FORMER]),
      ])
      const before = await exportedRecords(host)
      const request = { repositoryId: host.repositoryId, people: { [one.name]: one.name, formerly: other.name } }
      const first = await host.forge.exchange.reattribute('system', request)
      const again = await host.forge.exchange.reattribute('system', request)

      const changed = ({ people }: ReattributeReport) => people.map(({ issues, comments }) => [issues, comments])
      const comments = host.tracker.comments === 'none' ? 0 : 1
      assert.deepEqual(changed(first), [
        [1, 0],
        [1, comments],
      ])
      for (const { named, remains, name, ...counts } of again.people) {
        assert.ok(named > 0 && !remains, `${name} still has no account`)
        assert.deepEqual(counts, { issues: 0, assignees: 0, comments: 0, reactions: 0 })
      }
      assert.deepEqual(await exportedRecords(host), before)
    },
  },
  {
    name: 'what has an account keeps it when its name gets another',
    needs: 'attribution',
    async check(host) {
      const [one, other] = host.users
      await importAll(host, [sampleIssue(1, { poster_name: one.name })], { attribution: 'accounts' })
      await importAll(host, [sampleIssue(2, { poster_name: one.name })])
      const request = { repositoryId: host.repositoryId, people: { [one.name]: other.name } }
      const { people } = await host.forge.exchange.reattribute('system', request)

      assert.deepEqual(
        people.map(({ named, issues }) => [named, issues]),
        [[2, 1]],
      )
    },
  },
  {
    name: 'what is written in a transaction is read in it, and gone when it is rolled back',
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
