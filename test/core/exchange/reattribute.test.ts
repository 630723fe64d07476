import { beforeEach, describe, expect, test } from 'vitest'
import type { IssueTracker, ReattributeRequest } from '../../../src/index.ts'
import type { Person } from '../a-forge.ts'
import { aForge, codeOf, olga } from '../a-forge.ts'
import { MemoryTracker } from './memory-tracker.ts'
import { aComment, allOf, anIssue, commentsOf } from './records.ts'

let tracker = new MemoryTracker<Person>()
let forge = aForge({ issues: tracker })

beforeEach(() => {
  tracker = new MemoryTracker<Person>()
  forge = aForge({ issues: tracker })
})

const none = { issues: 0, assignees: 0, comments: 0, reactions: 0 }
const reattributing = (people: ReattributeRequest['people'], signal?: AbortSignal) =>
  forge.exchange.reattribute(olga, { repositoryId: 10, people }, { signal })
const events = async () =>
  (await forge.events.read()).events.flatMap((event) => (event.type === 'issues.reattributed' ? [event.data] : []))

async function importMany(count: number): Promise<void> {
  const records = Array.from({ length: count }, (_, at) => anIssue(at + 1))
  await forge.exchange.import(olga, { repositoryId: 10, records })
}

describe('a reattribution', () => {
  test('gives accounts to authors, assignees, comments and reactions, and reports them for each name', async () => {
    const reactions = [{ user_id: 3, user_name: 'ada', content: '+1' }]
    await forge.exchange.import(olga, {
      repositoryId: 10,
      records: [
        anIssue(1, { assignees: ['ada', 'eve'], reactions }),
        anIssue(2, { poster_name: 'grace' }),
        ...commentsOf(aComment(1, 'a', { reactions }), aComment(2, 'b', { poster_name: 'eve' })),
      ],
    })
    tracker.accounts.set('ada.l', 21)
    const before = await allOf(forge.exchange.exportAll(olga, 10))
    const map = { ada: 'ada.l', grace: 'grace.h', eve: null, zoe: 'ada.l' }
    const first = await reattributing(map)

    expect(first).toEqual({
      people: [
        { name: 'ada', named: 4, remains: false, issues: 1, assignees: 1, comments: 0, reactions: 2 },
        { name: 'grace', named: 2, remains: true, ...none },
        { name: 'eve', named: 2, remains: true, ...none },
        { name: 'zoe', named: 0, remains: false, ...none },
      ],
      remaining: {
        total: 2,
        first: [
          { name: 'eve', count: 2 },
          { name: 'grace', count: 2 },
        ],
      },
    })
    expect(await events()).toEqual([{ issues: 1, assignees: 1, comments: 0, reactions: 2 }])
    expect(await allOf(forge.exchange.exportAll(olga, 10))).toEqual(before)

    tracker.accounts.set('grace.h', 22)
    const second = await reattributing(map)
    expect(second.people.slice(0, 2)).toEqual([
      { name: 'ada', named: 4, remains: false, ...none },
      { name: 'grace', named: 2, remains: false, ...none, issues: 1, comments: 1 },
    ])
    const written = tracker.asked.filter((method) => method === 'attribute').length
    const third = await reattributing(map)
    expect(third.people.map(({ issues, comments }) => issues + comments)).toEqual([0, 0, 0, 0])
    expect(third.remaining).toEqual({ total: 1, first: [{ name: 'eve', count: 2 }] })
    expect(tracker.asked.filter((method) => method === 'attribute').length).toBe(written)
    expect(await events()).toHaveLength(2)
  })

  test('that breaks off keeps its batches, and is finished by running it again', async () => {
    await importMany(250)
    tracker.accounts.set('ada', 21)
    let calls = 0
    const failing: IssueTracker<Person, undefined> = {
      issues: (query) => tracker.issues(query),
      comments: 'none',
      findUsers: (users) => tracker.findUsers(users),
      write: (batch) => tracker.write(batch),
      attribution: {
        named: (query, context) => tracker.attribution.named(query, context),
        attribute(change, context) {
          calls += 1
          if (calls === 2) throw new Error('the host is gone')
          return tracker.attribution.attribute(change, context)
        },
      },
    }
    forge = aForge({ issues: failing })
    await expect(reattributing({ ada: 'ada' })).rejects.toThrow('the host is gone')
    expect((await events()).map(({ issues }) => issues)).toEqual([100])
    const { people } = await reattributing({ ada: 'ada' })

    expect(people).toEqual([{ name: 'ada', named: 250, remains: false, ...none, issues: 150 }])
    expect((await events()).map(({ issues }) => issues)).toEqual([100, 100, 50])
  })

  test('counts all names that remain, and lists a hundred', async () => {
    const assignees = Array.from({ length: 120 }, (_, at) => `user-${at}`)
    await forge.exchange.import(olga, { repositoryId: 10, records: [anIssue(1, { assignees, poster_name: '' })] })
    const { remaining } = await reattributing({})

    expect([remaining.total, remaining.first.length]).toEqual([120, 100])
  })

  test('asks the policy for what an import asks, before it asks the host', async () => {
    const actions: string[] = []
    const authorize = ({ action }: { readonly action: string }) => {
      actions.push(action)
      return { allow: action !== 'issues.attribute', reason: '' }
    }
    forge = aForge({ issues: tracker, policy: { authorize } })

    expect(await codeOf(() => reattributing({ ada: 'ada' }))).toBe('FORBIDDEN')
    expect(actions).toEqual(['issues.import', 'issues.attribute'])
    expect(tracker.asked).toEqual([])
  })

  test('ends with the reason of a signal', async () => {
    await importMany(1)
    await expect(reattributing({}, AbortSignal.abort('enough'))).rejects.toBe('enough')
  })

  test.each([
    [{ people: { ada: 'ada' } }, 'request.repositoryId'],
    [{ repositoryId: 10 }, 'request.people'],
    [{ repositoryId: 10, people: { ada: '' } }, 'request.people must map names to names'],
  ])('of %j is a TypeError', async (request, message) => {
    const { exchange } = forge
    await expect(Reflect.apply(exchange.reattribute, exchange, [olga, request])).rejects.toThrow(message)
  })

  test('needs a tracker that can attribute, and one that returns ascending numbers', async () => {
    const without = { issues: () => [], comments: 'none', findUsers: () => [], write: () => undefined } as const
    forge = aForge({ issues: without })
    await expect(reattributing({})).rejects.toThrow('attribution in the tracker of the host')

    const person = { part: 'issues', name: 'ada', hasAccount: false } as const
    const named = () => [
      { number: 2, ...person },
      { number: 1, ...person },
    ]
    forge = aForge({ issues: { ...without, attribution: { named, attribute: () => undefined } } })
    await expect(reattributing({})).rejects.toThrow('ascending numbers')
  })
})
