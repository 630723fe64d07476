import assert from 'node:assert/strict'
import { canonicalIssue } from '../../exchange/exchange.ts'
import type { ExchangeRecord, IdInput, LabelRecord, MilestoneRecord, ReattributeReport } from '../../index.ts'
import type { TrackerCase } from './tracker-host.ts'
import {
  BUG,
  COMMENT_OF_FORMER,
  contextIn,
  exported,
  exportedRecords,
  importAll,
  mustReturn,
  sampleIssue,
  sorted,
} from './tracker-samples.ts'

/** Cases about the labels and milestones of a repository. */
export const labelCases: readonly TrackerCase[] = [
  {
    name: 'a label that exists is left as it is, and one that is missing is created',
    fix: 'write: insert the labels that have no row yet, and leave those that have one: only labelUpdates change them',
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
    fix: 'write: replace the rows of labelUpdates and milestoneUpdates, and keep the issues that refer to them',
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
]

/** Cases about the users of the host, and the accounts of people whom records name. */
export const peopleCases: readonly TrackerCase[] = [
  {
    name: 'users are found in the order in which they were asked, and unknown ones are undefined',
    fix: 'findUsers: return one entry for each user that was asked, in that order, and undefined for an unknown one',
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
    name: 'people are named in the next issues above a number and up to a limit, and with their accounts',
    fix: 'attribution.named: name the people of the issues above `after` up to `limit`, and say who has an account',
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
    fix: 'attribution.attribute: set the account in issues, assignees, comments and reactions where it is missing, and nothing else',
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
    fix: 'attribution.attribute: keep the accounts that are set, and set only those that are missing',
    needs: 'attribution',
    async check(host) {
      const [one, other] = host.users
      await importAll(host, [sampleIssue(1, { poster_name: one.name })], { attribution: 'accounts' })
      await importAll(host, [sampleIssue(2, { poster_name: one.name })])
      const request = { repositoryId: host.repositoryId, people: { [one.name]: other.name } }
      const { people } = await host.forge.exchange.reattribute('system', request)

      assert.deepEqual([people.length, people[0]?.named, people[0]?.issues], [1, 2, 1])
    },
  },
]
