import assert from 'node:assert/strict'
import type { IdInput, ReattributeReport } from '../../index.ts'
import type { TrackerCase } from './tracker-host.ts'
import { COMMENT_OF_FORMER, contextIn, exportedRecords, importAll, sampleIssue } from './tracker-samples.ts'

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

      assert.deepEqual(
        people.map(({ named, issues }) => [named, issues]),
        [[2, 1]],
      )
    },
  },
]
