import { beforeEach, describe, expect, test, vi } from 'vitest'
import { readExchange } from '../../../src/exchange/exchange.ts'
import type {
  CommentRecord,
  ExchangeRecord,
  ForgeError,
  ForgeEvent,
  ImportOptions,
  IssueRecord,
  IssueTracker,
  Violation,
} from '../../../src/index.ts'
import type { Person } from '../a-forge.ts'
import { aForge, olga } from '../a-forge.ts'
import { MemoryTracker } from './memory-tracker.ts'
import { aComment, allOf, anIssue, commentsOf } from './records.ts'

let tracker = new MemoryTracker<Person>()
let forge = aForge({ issues: tracker })

beforeEach(() => {
  tracker = new MemoryTracker<Person>()
  forge = aForge({ issues: tracker })
})

type Records = readonly (ExchangeRecord | IssueRecord)[]

const importing = (records: Records, options?: ImportOptions) =>
  forge.exchange.import(olga, { repositoryId: 10, records }, options)
const inspecting = (records: Records, options?: ImportOptions) =>
  forge.exchange.inspect(olga, { repositoryId: 10, records }, options)
const events = async (): Promise<readonly ForgeEvent[]> => (await forge.events.read()).events
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const none = { created: 0, updated: 0, unchanged: 0, skipped: 0 }

async function failureOf(work: Promise<unknown>): Promise<ForgeError> {
  const error = await work.then(
    () => new Error('nothing was refused'),
    (reason: ForgeError) => reason,
  )
  expect(error).toMatchObject({ name: 'ForgeError' })
  return error as ForgeError
}

describe('an import', () => {
  test('creates what is missing, with one event for each batch', async () => {
    const records = [anIssue(1), anIssue(2), anIssue(3)]
    const report = await importing(records, { batch: 2 })

    expect(report).toEqual({
      issues: { ...none, created: 3 },
      comments: none,
      unknownUsers: { total: 0, first: [] },
      notCarried: [],
    })
    expect([...tracker.records.values()]).toEqual(records)
    expect(tracker.nextNumber).toBe(4)
    expect(
      (await events()).map(({ type, data, repositoryId, actorId }) => [type, data, repositoryId, actorId]),
    ).toEqual([
      ['issues.imported', { created: 2, updated: 0, comments: 0 }, '10', '1'],
      ['issues.imported', { created: 1, updated: 0, comments: 0 }, '10', '1'],
    ])
  })

  test('changes nothing the second time, and records no event', async () => {
    const label = { name: 'bug', color: 'd73a4a' }
    const records: Records = [
      { kind: 'label', label },
      { kind: 'milestone', milestone: { title: '1.0', state: 'open' } },
      { kind: 'issue', issue: anIssue(1, { labels: [label], milestone: '1.0' }) },
      ...commentsOf(aComment(1, 'Seen here too.'), aComment(1, 'Fixed.')),
    ]
    await importing(records)
    const [written, recorded] = [tracker.batches.length, await events()]
    const report = await importing(records)

    expect([report.issues, report.comments]).toEqual([
      { ...none, unchanged: 1 },
      { ...none, unchanged: 2 },
    ])
    expect(tracker.batches.length).toBe(written)
    expect(await events()).toEqual(recorded)
  })

  test('is finished by another one after it broke off', async () => {
    const records = Array.from({ length: 25 }, (_, index) => anIssue(25 - index))
    async function* broken() {
      yield* records.slice(0, 13)
      throw new Error('the line is cut')
    }
    const brokenOff = forge.exchange.import(olga, { repositoryId: 10, records: broken() }, { batch: 5 })

    await expect(brokenOff).rejects.toThrow('the line is cut')
    expect(tracker.records.size).toBe(10)
    expect((await importing(records, { batch: 5 })).issues).toEqual({ ...none, created: 15, unchanged: 10 })
    expect((await importing(records, { batch: 7 })).issues).toEqual({ ...none, unchanged: 25 })
  })

  test('ends the source when it fails', async () => {
    const ended = vi.fn()
    async function* records() {
      try {
        yield* [anIssue(0), anIssue(1)]
      } finally {
        ended()
      }
    }
    const failed = forge.exchange.import(olga, { repositoryId: 10, records: records() })

    expect((await failureOf(failed)).code).toBe('INVALID_DOCUMENT')
    expect(ended).toHaveBeenCalledOnce()
  })

  test('reports the counts after each batch, and is cancelled between two', async () => {
    const [records, controller, counts] = [[1, 2, 3, 4, 5].map((at) => anIssue(at)), new AbortController(), [0]]
    const onBatch: ImportOptions['onBatch'] = ({ issues }) => {
      counts.push(issues.created)
      if (issues.created === 4) controller.abort(new Error('stop'))
    }

    await expect(importing(records, { batch: 2, signal: controller.signal, onBatch })).rejects.toThrow('stop')
    expect([counts, tracker.records.size]).toEqual([[0, 2, 4], 4])
  })

  const long = 'x'.repeat(1_500_000)

  const issuesWith = (more: Partial<IssueRecord>): Records => many(12, (at) => anIssue(at + 10, more))
  test.each<[what: string, batches: number, records: Records]>([
    ['texts', 4, issuesWith({ content: long })],
    ['reactions', 3, issuesWith({ reactions: many(10_000, (user_id) => ({ user_id, content: '+1' })) })],
    ['assignees', 3, issuesWith({ assignees: many(20_000, (at) => `u${at}`) })],
    ['labels', 3, issuesWith({ labels: many(10_000, (at) => ({ name: `label ${at}` })) })],
    ['comments', 2, commentsOf(...many(6, (at) => aComment(1, `${at}${long}`)))],
    ['descriptions of labels', 2, many(6, (at) => ({ kind: 'label', label: { name: `${at}`, description: long } }))],
    [
      'descriptions of milestones',
      2,
      many(6, (at) => ({ kind: 'milestone', milestone: { title: `${at}`, description: long, state: 'open' } })),
    ],
  ])('ends a batch at about 4 MB of %s', async (_, batches, records) => {
    await importing([anIssue(1)])
    await importing(records)

    expect(tracker.batches).toHaveLength(1 + batches)
  })

  test('has 200 records in a batch if they are small', async () => {
    await importing(Array.from({ length: 500 }, (_, at) => anIssue(at + 1, { content: 'x'.repeat(10_000) })))

    expect(tracker.batches.map(({ create }) => create.length)).toEqual([200, 200, 100])
  })

  test('lets other work run between the batches', async () => {
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    await importing(Array.from({ length: 5000 }, (_, index) => anIssue(index + 1)))
    clearInterval(timer)

    expect(turns).toBeGreaterThan(2)
  })

  test('gives the tracker dates, and every label and milestone that issues name', async () => {
    await importing([
      anIssue(1, {
        closed: '2026-01-05T01:04:05+02:00',
        state: 'closed',
        labels: [{ name: 'bug', color: 'ff0000' }],
        milestone: '1.0',
      }),
      anIssue(2, { labels: [{ name: 'bug', color: '00ff00' }, { name: 'help' }], milestone: '1.0' }),
    ])

    expect(tracker.batches).toMatchObject([
      {
        repositoryId: '10',
        labels: [{ name: 'bug', color: 'ff0000' }, { name: 'help' }],
        milestones: [{ title: '1.0', state: 'open' }],
        create: [
          {
            posterId: null,
            createdAt: new Date('2026-01-02T03:04:05Z'),
            updatedAt: new Date('2026-01-03T03:04:05Z'),
            closedAt: new Date('2026-01-04T23:04:05Z'),
          },
          { closedAt: null },
        ],
      },
    ])
  })

  test('of labels alone writes them with the next change, if the host does not list its labels', async () => {
    Object.defineProperty(tracker, 'labelsAndMilestones', { value: undefined })
    const label: ExchangeRecord = { kind: 'label', label: { name: 'wontfix' } }
    await importing([label, anIssue(1)], { batch: 1 })
    const written = tracker.batches.length
    await importing([label, anIssue(1)], { batch: 1 })

    expect([...tracker.labels.keys()]).toEqual(['wontfix'])
    expect(tracker.batches.length).toBe(written)
  })

  test('of nothing asks the policy and does nothing', async () => {
    expect((await importing([])).issues).toEqual(none)
    expect(tracker.asked).toEqual([])
  })

  test('runs beforeCommit of the host after the issues were written', async () => {
    const order: unknown[] = []
    forge = aForge({
      issues: tracker,
      beforeCommit: (written) => void order.push(tracker.records.size, written.length),
    })
    await importing([anIssue(1), anIssue(2)])

    expect(order).toEqual([2, 1])
  })

  test('into a repository that was deleted meanwhile is REPOSITORY_NOT_FOUND', async () => {
    async function* records() {
      yield anIssue(1)
      await forge.lifecycle.repositoryDeleted(10)
      yield anIssue(2)
    }
    const failed = forge.exchange.import(olga, { repositoryId: 10, records: records() }, { batch: 1 })

    expect((await failureOf(failed)).code).toBe('REPOSITORY_NOT_FOUND')
    expect([...tracker.records.keys()]).toEqual([1])
  })
})

describe('an issue that exists', () => {
  const different: Partial<IssueRecord> = {
    ...{
      poster_name: 'grace',
      poster_id: 9,
      title: 'Another',
      content: 'It crashes.\r\n',
      ref: 'main',
      milestone: '1.0',
    },
    ...{ state: 'closed', is_locked: true, created: '2026-01-02T03:04:05.001Z', updated: '2026-01-03T03:04:06Z' },
    closed: '2026-01-03T03:04:06Z',
    labels: [{ name: 'bug' }],
    reactions: [{ user_id: 1, content: '+1' }],
    assignees: ['ada'],
  }

  test.each(Object.entries(different))(
    'and differs in %s is a conflict that names the property',
    async (property, value) => {
      await importing([anIssue(1)])
      const { code, details } = await failureOf(importing([anIssue(2), anIssue(1, { [property]: value })]))

      expect([code, details]).toEqual(['IMPORT_CONFLICT', { pointer: '/1', number: 1, reason: 'differs', property }])
      expect([...tracker.records.keys()]).toEqual([1])
    },
  )

  test('and has another e-mail address is a conflict, unless an account stands for the author', async () => {
    const issueOf = (poster_email: string) => [anIssue(1, { poster_name: 'ada', poster_email })]
    await importing(issueOf('ada@example.com'))
    const { details } = await failureOf(importing(issueOf('eve@example.com')))
    expect(details).toEqual({ pointer: '/0', number: 1, reason: 'differs', property: 'poster_email' })

    tracker.accounts.set('ada', 21)
    const byAccount = importing(issueOf('eve@example.com'), { attribution: 'accounts' })
    expect((await byAccount).issues).toEqual({ ...none, unchanged: 1 })
  })

  test.each<Partial<IssueRecord>>([
    { created: '2026-01-02T05:04:05+02:00' },
    { ref: '', milestone: '', closed: null, labels: [], reactions: [], assignees: [], poster_email: '' },
    { poster_email: 'ada@example.com' },
  ])('and is written in another way is the same: %j', async (given) => {
    await importing([anIssue(1)])

    expect((await importing([anIssue(1, given)])).issues).toEqual({ ...none, unchanged: 1 })
  })

  test('is the same if its lists have another order, and its labels other colors', async () => {
    const reactions = [
      { user_id: 1, content: '+1' },
      { user_id: 2, user_name: 'eve', content: 'heart' },
    ]
    const labels = [{ name: 'bug', color: 'ff0000' }, { name: 'help' }]
    await importing([anIssue(1, { reactions, labels, assignees: ['ada', 'eve'] })])
    const turned = anIssue(1, {
      reactions: reactions.toReversed(),
      labels: [{ name: 'help', color: '00ff00' }, { name: 'bug' }],
      assignees: ['eve', 'ada', 'eve'],
    })

    expect((await importing([turned])).issues).toEqual({ ...none, unchanged: 1 })
  })

  test('and differs is skipped or replaced on request', async () => {
    await importing([anIssue(1)])
    const changed = [anIssue(1, { title: 'Another' }), anIssue(2)]

    expect((await importing(changed, { onConflict: 'skip' })).issues).toEqual({ ...none, skipped: 1, created: 1 })
    expect(tracker.records.get(1)?.title).toBe('Issue 1')
    expect((await importing(changed, { onConflict: 'update' })).issues).toEqual({ ...none, updated: 1, unchanged: 1 })
    expect(tracker.records.get(1)?.title).toBe('Another')
    expect((await events()).at(-1)?.data).toEqual({ created: 0, updated: 1, comments: 0 })
  })

  test.each(['refuse', 'skip', 'update'] as const)('as something else is a conflict with %s', async (onConflict) => {
    tracker.taken.add(4)
    const { code, message, details } = await failureOf(importing([anIssue(4)], { onConflict }))

    expect([code, details]).toEqual(['IMPORT_CONFLICT', { pointer: '/0', number: 4, reason: 'taken' }])
    expect(message).toBe('the number 4 is taken by something that is not an issue')
    expect(tracker.batches).toEqual([])
  })
})

describe('comments', () => {
  test.each(['2026-01-04T03:04:05.000Z', '2026-01-04T05:04:05+02:00'])(
    'are the same if the host writes their time as %s',
    async (created) => {
      const records = [anIssue(1), ...commentsOf(aComment(1, 'Fixed.'))]
      await importing(records)
      const ofHost = tracker.comments.bind(tracker)
      vi.spyOn(tracker, 'comments').mockImplementation((request) =>
        ofHost(request).map((comment) => ({ ...comment, created })),
      )

      expect((await importing(records)).comments).toEqual({ ...none, unchanged: 1 })
    },
  )

  test('are created once, in whatever batches they come', async () => {
    const comments = commentsOf(...['a', 'b', 'a', 'c'].map((content) => aComment(1, content)))
    const records: Records = [anIssue(1), ...comments]
    const report = await importing(records, { batch: 2 })

    expect(report.comments).toEqual({ ...none, created: 3, unchanged: 1 })
    expect((await importing(records, { batch: 3 })).comments).toEqual({ ...none, unchanged: 4 })
    expect(tracker.stored.map(({ content }) => content)).toEqual(['a', 'b', 'c'])
  })

  test.each([
    [{ created: '2026-01-04T03:04:06Z' }],
    [{ poster_id: 9 }],
    [{ content: 'other' }],
    [{ content: 'other', updated: '2026-02-04T03:04:05Z' }],
  ])('that differ in %j are others', async (given) => {
    await importing([anIssue(1), ...commentsOf(aComment(1, 'a'))])

    expect((await importing(commentsOf(aComment(1, 'a', given)))).comments).toEqual({ ...none, created: 1 })
  })

  const GONE = { poster_id: 0, poster_name: 'ghost' }
  test.each<[string, Partial<CommentRecord>, Partial<CommentRecord>, ImportOptions?]>([
    ['was renamed', {}, { poster_name: 'robert' }],
    ['has left the project', {}, { poster_name: 'user-8' }],
    ['was a member again', { poster_name: 'user-8' }, {}],
    ['has deleted the account', {}, GONE],
    ['has deleted the account of a forge that keeps an id for them', {}, { poster_id: 10137, poster_name: 'Ghost' }],
    ['had deleted the account in the earlier source', GONE, {}],
    ['is mapped', {}, {}, { users: { grace: 'mia' } }],
    ['is mapped to an account', {}, {}, { users: { grace: 'ada' }, attribution: 'accounts' }],
    ['has deleted the account and is mapped', GONE, GONE, { users: { ghost: 'mia' } }],
    ['has no id and is mapped', { poster_id: 0 }, { poster_id: 0 }, { users: { grace: 'mia' } }],
  ])('are the same when the author %s', async (_, first, again, options) => {
    tracker.accounts.set('ada', 21)
    await importing([anIssue(1), ...commentsOf(aComment(1, 'a', first), aComment(1, 'b', first))])
    const second = commentsOf(aComment(1, 'a', again), aComment(1, 'b', again))

    expect((await importing(second, options)).comments).toEqual({ ...none, unchanged: 2 })
    expect(tracker.stored).toHaveLength(2)
  })

  test.each([[GONE], [{ poster_id: 0, poster_name: 'eve' }], [{ poster_id: 9 }]])(
    'of two people who write the same in the same second are two, also if one is %j',
    async (other) => {
      const twice = commentsOf(aComment(1, '+1', { poster_id: 0 }), aComment(1, '+1', other))
      expect((await importing([anIssue(1), ...twice])).comments).toEqual({ ...none, created: 2 })
      expect((await importing(twice.toReversed())).comments).toEqual({ ...none, unchanged: 2 })
    },
  )

  test('of one author in one second are the same, also if the account was deleted between them', async () => {
    await importing([anIssue(1), ...commentsOf(aComment(1, 'a'), aComment(1, 'b'))])
    const again = commentsOf(aComment(1, 'a'), aComment(1, 'b', GONE))

    expect((await importing(again)).comments).toEqual({ ...none, unchanged: 2 })
  })

  test.each([1, 2, 200])(
    'that were edited replace the old ones on request to update, in batches of %i',
    async (batch) => {
      const comment = (at: number, content: string, given: Partial<CommentRecord> = {}) => {
        const time = `2026-01-04T03:04:0${at}Z`
        return aComment(1, content, { created: time, updated: time, ...given })
      }
      const edit = { updated: '2026-02-04T03:04:05Z', poster_name: 'robert' }
      await importing([anIssue(1), ...commentsOf(comment(1, 'a'), comment(2, 'b'), comment(3, 'c'))])
      const edited = commentsOf(comment(1, 'a'), comment(2, 'B', edit), comment(4, 'd'))
      const report = await importing(edited, { onConflict: 'update', batch })

      expect(report.comments).toEqual({ ...none, unchanged: 1, updated: 1, created: 1 })
      expect(tracker.stored.map(({ content }) => content).sort()).toEqual(['B', 'a', 'c', 'd'])
      expect((await events()).reduce((sum, { data }) => sum + Number(Reflect.get(data, 'comments')), 0)).toBe(5)
      const recorded = await events()
      expect((await importing(edited, { onConflict: 'update', batch })).comments).toEqual({ ...none, unchanged: 3 })
      expect(await events()).toEqual(recorded)
    },
  )

  test.each([1, 200])('of one author in one second replace no one else, in batches of %i', async (batch) => {
    const [one, other] = [aComment(1, 'one'), aComment(1, 'other')]
    await importing([anIssue(1), ...commentsOf(one)])
    for (const records of [commentsOf(other, one), commentsOf(one, other)]) {
      await importing(records, { onConflict: 'update', batch })
      expect(tracker.stored).toEqual([one, other])
    }
    const edited = aComment(1, 'edited', { updated: '2026-02-04T03:04:05Z' })
    await importing(commentsOf(one, edited), { onConflict: 'update', batch })
    expect(tracker.stored).toEqual([one, other, edited])
  })

  test('on an issue that is neither in the document nor on the host end the import', async () => {
    const records: Records = [anIssue(1), ...commentsOf(aComment(2, 'a'))]
    const { details } = await failureOf(importing(records))

    expect(details).toMatchObject({ violations: [{ pointer: '/1/issue_number', code: 'unknown_issue' }], total: 1 })
    expect(tracker.records.size).toBe(0)
  })

  test('on an issue that was skipped are skipped too, in this batch and in later ones', async () => {
    await importing([anIssue(1)])
    const records: Records = [anIssue(1, { title: 'Another' }), ...commentsOf(aComment(1, 'a'), aComment(1, 'b'))]
    const report = await importing(records, { onConflict: 'skip', batch: 2 })

    expect([report.issues, report.comments]).toEqual([
      { ...none, skipped: 1 },
      { ...none, skipped: 2 },
    ])
    expect(tracker.stored).toEqual([])
  })

  test('that the host has no place for are reported whatever happens to their issue', async () => {
    Object.defineProperty(tracker, 'comments', { value: 'none' })
    await importing([anIssue(1), anIssue(2)])
    const records = [
      anIssue(1),
      anIssue(2, { title: 'Another title' }),
      anIssue(3),
      ...commentsOf(aComment(1, 'a'), aComment(2, 'b'), aComment(3, 'c')),
    ]

    const notCarried = [{ what: 'comments', count: 3, pointer: '/3' }]
    expect(await inspecting(records, { onConflict: 'skip' })).toMatchObject({ notCarried })
    expect(await importing(records, { onConflict: 'skip' })).toMatchObject({ notCarried, comments: none })
    expect(await importing(records, { onConflict: 'skip' })).toMatchObject({ notCarried, comments: none })
  })

  test('on issues with a conflict count as skipped in an inspection, and the conflict counts once', async () => {
    await importing([anIssue(1)])
    tracker.taken.add(2)
    const report = await inspecting([
      anIssue(1, { title: 'Another title' }),
      anIssue(2),
      ...commentsOf(aComment(1, 'a'), aComment(2, 'b'), aComment(2, 'c')),
    ])

    expect(report.comments).toEqual({ ...none, skipped: 3 })
    expect(report.conflicts).toMatchObject({
      total: 2,
      first: [
        { number: 1, reason: 'differs', property: 'title' },
        { number: 2, reason: 'taken' },
      ],
    })
  })
})

describe('a record that cannot be imported', () => {
  const invalid: readonly (readonly [string, string, Records[number]])[] = [
    ['/1/number', 'integer', anIssue(1.5)],
    ['/1/number', 'integer', anIssue(0)],
    ['/1/number', 'integer', anIssue(2 ** 53)],
    ['/1/number', 'duplicate_number', anIssue(5)],
    ['/1/poster_id', 'integer', anIssue(1, { poster_id: 2 ** 53 })],
    ['/1/reactions/0/user_id', 'integer', anIssue(1, { reactions: [{ user_id: 0.5, content: '+1' }] })],
    ['/1/title', 'nul', anIssue(1, { title: 'a\0b' })],
    ['/1/content', 'surrogate', anIssue(1, { content: '\ud800' })],
    ['/1/labels/0/name', 'nul', anIssue(1, { labels: [{ name: '\0' }] })],
    ['/1/assignees/1', 'surrogate', anIssue(1, { assignees: ['ada', '\udc00'] })],
    ['/1/created', 'date_time', anIssue(1, { created: '2026-02-30T00:00:00Z' })],
    ['/1/content', 'nul', { kind: 'comment', comment: aComment(5, '\0') }],
    ['/1/issue_number', 'integer', { kind: 'comment', comment: aComment(-1, '') }],
    ['/1/name', 'nul', { kind: 'label', label: { name: '\0' } }],
    ['/1/deadline', 'date_time', { kind: 'milestone', milestone: { title: 'a', state: 'open', deadline: 'soon' } }],
    ...[null, undefined, 5, 'text', { kind: 'wiki' }, { kind: 'wiki', wiki: {} }].map(
      (any) => ['/1', 'type', any as never] as const,
    ),
    ['/1/number', 'required', anIssue(undefined as never)],
    ['/1/updated', 'required', anIssue(1, { updated: null as never })],
    ['/1/created', 'required', { kind: 'comment', comment: { ...aComment(5, ''), created: undefined as never } }],
  ]

  test.each(invalid)('is named: %s %s', async (pointer, code, record) => {
    const failed = await failureOf(importing([anIssue(5), record]))

    expect(failed.code).toBe('INVALID_DOCUMENT')
    expect(failed.details).toMatchObject({ violations: [{ pointer, code }], total: expect.any(Number) })
    expect(tracker.batches).toEqual([])
  })

  test('is left out, and its violations are passed on, if onInvalid is a function', async () => {
    const records: Records = [
      ...[anIssue(1.5), anIssue(1), anIssue(2, { title: '\0' }), anIssue(1, { title: 'again' }), anIssue(2)],
      ...commentsOf(aComment(9, 'of no issue'), aComment(2, '\0'), aComment(2, 'of the second')),
    ]
    for (const run of [inspecting, importing]) {
      const found: string[] = []
      const onInvalid = ({ pointer, code }: Violation) => void found.push(`${pointer} ${code}`)
      const report = await run(records, { onInvalid, batch: 3 })
      expect([report.issues.created, report.comments.created]).toEqual([2, 1])
      expect(found).toEqual([
        ...['/0/number integer', '/2/title nul', '/3/number duplicate_number'],
        ...['/5/issue_number unknown_issue', '/6/content nul'],
      ])
    }
    expect([...tracker.records.values()]).toEqual([anIssue(1), anIssue(2)])
    await expect(importing(records, { onInvalid: 'throw' })).rejects.toThrow('/0/number')
    await expect(importing(records, { onInvalid: JSON.parse('7') })).rejects.toThrow(TypeError)
  })
})

describe('a tracker that returns promises, on a synchronous storage', () => {
  test('is awaited by inspections and exports', async () => {
    tracker.records.set(1, anIssue(1))
    forge = aForge({ issues: promised(tracker) })

    expect((await inspecting([anIssue(1), anIssue(2)])).issues).toEqual({ ...none, created: 1, unchanged: 1 })
    expect(await allOf(forge.exchange.export(olga, 10))).toEqual([anIssue(1)])
    expect(await allOf(forge.exchange.exportAll(olga, 10))).toEqual([{ kind: 'issue', issue: anIssue(1) }])
  })

  test('is refused by an import, which writes nothing', async () => {
    forge = aForge({ issues: promised(tracker) })

    await expect(importing([anIssue(1)])).rejects.toThrow(/a synchronous storage \(memory,.*the tracker must too$/)
    await expect(importing([anIssue(1)])).rejects.toThrow(TypeError)
    expect([tracker.batches, await events()]).toEqual([[], []])
  })
})

/** The same tracker, whose methods return promises. */
function promised(issues: MemoryTracker<Person>): IssueTracker<Person, undefined> {
  return {
    issues: async (query) => issues.issues(query),
    comments: async (query) => issues.comments(query),
    labelsAndMilestones: async () => issues.labelsAndMilestones(),
    findUsers: async (users) => issues.findUsers(users),
    write: async (batch) => issues.write(batch),
  }
}

describe('labels and milestones that exist', () => {
  const labels = [
    { name: 'bug', color: 'd73a4a', description: 'Broken.' },
    { name: 'help', color: '00ff00' },
  ]
  const milestone = { title: '1.0', state: 'open', deadline: '2026-05-01T00:00:00Z' } as const
  const closed = { ...milestone, state: 'closed', closed: '2026-05-02T00:00:00Z' } as const
  const described: Records = [
    ...labels.map((label) => ({ kind: 'label', label }) as const),
    { kind: 'milestone', milestone },
    anIssue(1, { labels, milestone: '1.0' }),
  ]
  const now = () => [[...tracker.labels.values()], [...tracker.milestones.values()]]
  const renewed = [{ name: 'bug', color: 'ffffff' }]

  const record = { kind: 'milestone', milestone: closed } as const
  test.each<[string, Records]>([
    ['records', [{ kind: 'label', label: { name: 'bug', color: 'ffffff' } }, record]],
    ['issues that are the same', [record, anIssue(1, { labels: [...renewed, { name: 'help' }], milestone: '1.0' })]],
    ['issues that are new', [record, anIssue(2, { labels: renewed })]],
    [
      'several batches, of which the first counts',
      [
        ...[record, anIssue(2, { labels: renewed })],
        ...['1', '2'].flatMap(
          (description): Records => [
            { kind: 'milestone', milestone: { ...closed, description } },
            anIssue(2 + Number(description), { labels: [{ name: 'bug', color: `00000${description}` }] }),
          ],
        ),
      ],
    ],
  ])('follow the source on request to update, by %s', async (_, records) => {
    await importing(described)
    for (const onConflict of ['skip', 'refuse'] as const) await importing(records, { onConflict })
    expect(now()).toEqual([labels, [milestone]])

    await importing(records, { onConflict: 'update', batch: 2 })
    expect(now()).toEqual([[{ name: 'bug', color: 'ffffff' }, labels[1]], [closed]])
    const recorded = await events()
    const report = await importing(records, { onConflict: 'update', batch: 2 })
    expect([report.issues.updated, await events()]).toEqual([0, recorded])
  })

  test('stay if a document has only their names, or the host does not list its labels', async () => {
    await importing([...described.slice(0, 2), { kind: 'milestone', milestone: closed }, ...described.slice(3)])
    const named = [
      { kind: 'label', label: { name: 'bug' } } as const,
      anIssue(2, { labels: [{ name: 'help' }], milestone: '1.0' }),
    ]
    await importing(named, { onConflict: 'update' })
    expect(now()).toEqual([labels, [closed]])

    Object.defineProperty(tracker, 'labelsAndMilestones', { value: undefined })
    await importing([...described, anIssue(3, { labels: renewed })], { onConflict: 'update' })
    expect(now()).toEqual([labels, [closed]])
  })
})

describe('the greatest number that a source has left out', () => {
  const leaving = (upTo: number, records: Records = [anIssue(2)]) => {
    return { repositoryId: 10, records: Object.assign([...records], { greatestLeftOut: () => upTo }) }
  }

  test('is reserved at the end of an import, also of one that changes nothing else', async () => {
    await forge.exchange.import(olga, leaving(40))
    expect([tracker.nextNumber, (await events()).length]).toEqual([41, 1])
    await forge.exchange.import(olga, leaving(50))
    expect([tracker.nextNumber, (await events()).length]).toEqual([51, 1])
    await forge.exchange.import(olga, leaving(0))
    expect(tracker.asked.filter((name) => name === 'reserveNumbers')).toHaveLength(2)
  })

  test('is not reserved by an inspection, nor by an import that fails, nor on a host that does not need it', async () => {
    await forge.exchange.inspect(olga, leaving(40))
    await expect(forge.exchange.import(olga, leaving(40, [anIssue(0)]))).rejects.toThrow()
    Object.defineProperty(tracker, 'reserveNumbers', { value: undefined })
    await forge.exchange.import(olga, leaving(40))

    expect([tracker.nextNumber, tracker.asked.includes('reserveNumbers')]).toEqual([3, false])
  })

  test('is passed on by what reads the source', async () => {
    const at = '2026-01-02T03:04:05Z'
    const issue = { user: null, locked: false, created_at: at, updated_at: at, title: 'a', state: 'open' }
    const pull = { ...issue, pull_request: { url: 'x' } }
    const json = JSON.stringify([
      { number: 9, ...pull },
      { number: 3, ...issue },
      { number: 4, ...pull },
    ])
    await forge.exchange.import(olga, { repositoryId: 10, records: readExchange({ json }) })

    expect([[...tracker.records.keys()], tracker.nextNumber]).toEqual([[3], 10])
  })
})

describe('attribution', () => {
  beforeEach(() => {
    tracker.accounts.set('ada', 21).set('grace.h', 22n)
  })
  const records: Records = [
    anIssue(1, { assignees: ['grace', 'eve'], reactions: [{ user_id: 3, user_name: 'ada', content: '+1' }] }),
    ...commentsOf(aComment(1, 'a'), aComment(1, 'b', { poster_name: 'eve' })),
  ]

  test('of names looks no one up, also among what the host has', async () => {
    await importing(records)
    await importing(records)

    expect(tracker.asked).not.toContain('findUsers')
    expect(tracker.batches[0]).toMatchObject({
      create: [{ posterId: null, assigneeIds: [null, null], reactionUserIds: [null] }],
      comments: [{ posterId: null }, { posterId: null }],
    })
  })

  test('of accounts tells two people of one name apart', async () => {
    vi.spyOn(tracker, 'findUsers').mockImplementation((users) => users.map(({ id }) => id && id + 20))
    const sams = [1, 2].map((id) => aComment(1, 'a', { poster_id: id, poster_name: 'sam' }))
    await importing([anIssue(1), ...commentsOf(...sams)], { attribution: 'accounts' })

    expect(tracker.batches[0]).toMatchObject({ comments: [{ posterId: '21' }, { posterId: '22' }] })
  })

  test('looks up who wrote what the host has only of comments of the same time', async () => {
    const later = (at: number) => new Date(Date.UTC(2026, 1, 1, 0, at)).toISOString()
    const comments = many(300, (at) => aComment(1, 'c', { poster_name: `user ${at}`, created: later(at) }))
    await importing([anIssue(1), ...commentsOf(...comments)], { attribution: 'accounts' })
    const asked = vi.spyOn(tracker, 'findUsers')
    await importing(commentsOf(comments[7] ?? aComment(1, 'c')), { attribution: 'accounts' })

    expect(asked.mock.calls.map(([users]) => users.map(({ name }) => name))).toEqual([['user 7', 'ada']])
  })

  test('of accounts gives the tracker those whom it finds, under the names of the map', async () => {
    const report = await importing(records, { attribution: 'accounts', users: { grace: 'grace.h' } })

    expect(tracker.batches[0]).toMatchObject({
      create: [{ posterId: '21', assigneeIds: ['22', null], reactionUserIds: ['21'] }],
      comments: [{ posterId: '22', record: { poster_name: 'grace.h' } }, { posterId: null }],
    })
    expect(report.unknownUsers).toEqual({ total: 1, first: [{ name: 'eve', count: 2 }] })
  })

  test('of accounts is repeatable, also if the host shows the accounts', async () => {
    await importing(records, { attribution: 'accounts' })
    const [issue] = tracker.records.values()
    tracker.records.set(1, { ...anIssue(1), ...issue, poster_id: 21, poster_email: 'ada@example.com' })
    const report = await importing(records, { attribution: 'accounts' })

    expect([report.issues, report.comments]).toEqual([
      { ...none, unchanged: 1 },
      { ...none, unchanged: 2 },
    ])
  })

  test('of accounts leaves what was imported by names, also on request to update', async () => {
    await importing(records)
    const written = tracker.batches.length
    const report = await importing(records, { attribution: 'accounts', onConflict: 'update' })

    expect([report.issues, report.comments]).toEqual([
      { ...none, unchanged: 1 },
      { ...none, unchanged: 2 },
    ])
    expect(tracker.batches.length).toBe(written)
  })

  test('looks up no name that a converter made up, unless the map names it', async () => {
    for (const name of ['ghost', 'Ghost', 'user-22', 'ada.l']) tracker.accounts.set(name, 66)
    const reactions = [{ user_id: 22, user_name: 'user-22', content: '+1' }]
    const madeUp: Records = [
      anIssue(1, { poster_id: 0, poster_name: 'ghost', assignees: ['user-22', 'ghost'], reactions }),
      anIssue(2, { poster_id: -1, poster_name: 'Ghost' }),
      ...commentsOf(aComment(1, 'a', { poster_id: 22, poster_name: 'user-22' })),
    ]
    const report = await importing([...madeUp, anIssue(3, { poster_id: 7, poster_name: 'user-22' })], {
      attribution: 'accounts',
    })

    expect(tracker.batches[0]).toMatchObject({
      create: [
        { posterId: null, assigneeIds: [null, null], reactionUserIds: [null] },
        { posterId: null },
        { posterId: '66' }, // a name of the source: its id is another
      ],
      comments: [{ posterId: null }],
    })
    const first = [
      { name: 'ghost', count: 2 },
      { name: 'user-22', count: 3 },
      { name: 'Ghost', count: 1 },
    ]
    expect(report.unknownUsers).toEqual({ total: 3, first: expect.arrayContaining(first) })

    const named = madeUp.map((one) => ('number' in one ? { ...one, number: one.number + 10 } : one)).slice(0, 1)
    await importing(named, { attribution: 'accounts', users: { ghost: 'ghost', 'user-22': 'ada.l' } })
    expect(tracker.batches[1]).toMatchObject({
      create: [{ posterId: '66', assigneeIds: ['66', '66'], reactionUserIds: ['66'] }],
    })
  })

  test('looks up no one whom the map excludes', async () => {
    const report = await importing([anIssue(1)], { attribution: 'accounts', users: { ada: null } })

    expect(tracker.batches[0]).toMatchObject({ create: [{ posterId: null, record: { poster_name: 'ada' } }] })
    expect(report.unknownUsers).toEqual({ total: 0, first: [] })
  })

  test('asks the policy once for all batches', async () => {
    const authorize = vi.fn(() => ({ allow: true }) as const)
    forge = aForge({ issues: tracker, policy: { authorize } })
    await importing([anIssue(1), anIssue(2), anIssue(3)], { batch: 1 })

    expect(authorize).toHaveBeenCalledOnce()
  })
})

describe('an inspection', () => {
  test('reports what the import then does, and writes nothing', async () => {
    await importing([anIssue(1), anIssue(2), ...commentsOf(aComment(1, 'a'))])
    const records: Records = [
      anIssue(1),
      anIssue(2, { title: 'Another' }),
      anIssue(3),
      ...commentsOf(aComment(1, 'a'), aComment(1, 'b'), aComment(2, 'c'), aComment(3, 'd')),
    ]
    for (const onConflict of ['skip', 'update'] as const) {
      for (const batch of [1, 3, 200]) {
        const [written, recorded] = [tracker.batches.length, await events()]
        const { conflicts, ...said } = await inspecting(records, { onConflict, batch })
        expect([tracker.batches.length, await events()]).toEqual([written, recorded])
        expect(conflicts).toEqual({ total: 0, first: [] })
        const copy = aCopyOf(tracker)
        const done = await aForge({ issues: copy }).exchange.import(
          olga,
          { repositoryId: 10, records },
          { onConflict, batch },
        )
        expect(done).toEqual(said)
      }
    }
  })
})

function aCopyOf(source: MemoryTracker<Person>): MemoryTracker<Person> {
  const copy = new MemoryTracker<Person>()
  for (const [number, issue] of source.records) copy.records.set(number, issue)
  copy.stored.push(...source.stored)
  return copy
}

describe('an export', () => {
  /** How many issues each page that was read could have. */
  const pages: number[] = []

  beforeEach(() => {
    pages.length = 0
    const issues = tracker.issues.bind(tracker)
    tracker.issues = (query) => {
      if ('limit' in query) pages.push(query.limit)
      return issues(query)
    }
  })

  test('has the issues in ascending order, in pages', async () => {
    await importing(Array.from({ length: 481 }, (_, index) => anIssue(481 - index)))
    tracker.taken.add(1300)
    tracker.records.set(1400, anIssue(1400))
    const issues = await allOf(forge.exchange.export(olga, 10))

    expect(issues.map(({ number }) => number)).toEqual([...Array.from({ length: 481 }, (_, index) => index + 1), 1400])
    expect(pages).toEqual([20, 40, 80, 160, 200, 200])
  })

  const long = 'x'.repeat(2_000_000)
  const reactions = many(20_000, () => ({ user_id: 4, user_name: 'grace', content: '+1' }))
  test.each<[what: string, count: number, more: (number: number) => Partial<IssueRecord>, pages: readonly number[]]>([
    ['of 64 KiB', 50, () => ({ content: 'x'.repeat(65_536) }), [20, 15, 15]],
    ['of 7.5 MiB', 21, () => ({ content: 'x'.repeat(7_864_320) }), [20, 1]],
    ['with long lists', 30, () => ({ reactions }), [20, 1]],
    ['behind long ones', 60, (number) => ({ content: number > 20 ? '' : long }), [20, 1, 2, 4, 8, 16, 32, 64]],
  ])('has about a megabyte on a page: issues %s', async (_what, count, more, expected) => {
    for (let number = 1; number <= count; number += 1) tracker.records.set(number, anIssue(number, more(number)))
    expect(await allOf(forge.exchange.export(olga, 10))).toHaveLength(count)

    expect(pages.slice(0, expected.length)).toEqual(expected)
  })

  test('has small pages also of long comments', async () => {
    for (let number = 1; number <= 30; number += 1) {
      tracker.records.set(number, anIssue(number))
      tracker.stored.push(aComment(number, long))
    }
    await allOf(forge.exchange.exportAll(olga, 10))

    expect(pages.slice(0, 2)).toEqual([20, 1])
  })

  test('reads no page before the one before it is used up', async () => {
    for (let number = 1; number <= 60; number += 1) tracker.records.set(number, anIssue(number))
    const read: number[] = []
    for await (const { number } of forge.exchange.export(olga, 10)) {
      if (number === 1 || number === 20 || number === 21) read.push(pages.length)
    }

    expect(read).toEqual([1, 1, 2])
  })

  test('of everything has labels and milestones first, and comments behind their issues', async () => {
    const records: Records = [
      { kind: 'label', label: { name: 'bug', color: 'ff0000' } },
      { kind: 'label', label: { name: 'help' } },
      { kind: 'milestone', milestone: { title: '1.0', state: 'closed', description: 'the first' } },
      { kind: 'issue', issue: anIssue(1, { labels: [{ name: 'bug', color: 'ff0000' }], milestone: '1.0' }) },
      ...commentsOf(aComment(1, 'a'), aComment(1, 'b')),
      { kind: 'issue', issue: anIssue(2) },
      ...commentsOf(aComment(2, 'c')),
    ]
    await importing(records)

    expect(await allOf(forge.exchange.exportAll(olga, 10))).toEqual(records)
  })

  test('has the labels of issues, if the host does not list its labels', async () => {
    Object.defineProperty(tracker, 'labelsAndMilestones', { value: undefined })
    const labels = [{ name: 'bug' }]
    await importing([anIssue(1, { labels }), anIssue(2, { labels: [...labels, { name: 'help' }] })])

    const records = await allOf(forge.exchange.exportAll(olga, 10))
    expect(records.map(({ kind }) => kind)).toEqual(['label', 'issue', 'label', 'issue'])
  })

  test('refuses a tracker whose pages do not ascend', async () => {
    tracker.issues = () => [anIssue(2), anIssue(2)]

    await expect(allOf(forge.exchange.export(olga, 10))).rejects.toThrow('issues.issues must return ascending numbers')
  })
})

test('a forge without issues names the option that is missing', async () => {
  const bare = aForge()
  const message = 'the service exchange needs the option issues of createForge'

  await expect(bare.exchange.import(olga, { repositoryId: 10, records: [] })).rejects.toThrow(message)
  await expect(bare.exchange.inspect(olga, { repositoryId: 10, records: [] })).rejects.toThrow(message)
  expect(() => bare.exchange.export(olga, 10)).toThrow(message)
  expect(() => bare.exchange.exportAll(olga, 10)).toThrow(message)
})

test.each([
  [{ repositoryId: 10 }, {}, 'request.records must be an iterable'],
  [{ repositoryId: 10, records: 'text' }, {}, 'request.records must be an iterable'],
  [{ repositoryId: 1.5, records: [] }, {}, 'request.repositoryId must be'],
  [undefined, {}, 'request must be an object'],
  [{ repositoryId: 10, records: [] }, { onConflict: 'merge' }, 'exchange.import needs onConflict'],
  [{ repositoryId: 10, records: [] }, { attribution: 'all' }, 'exchange.import needs attribution'],
  [{ repositoryId: 10, records: [] }, { users: { ada: 5 } }, 'options.users must map'],
  [{ repositoryId: 10, records: [] }, { batch: 0 }, 'options.batch must be an integer from 1 to 1000'],
  [{ repositoryId: 10, records: [] }, { batch: 1001 }, 'options.batch must be an integer from 1 to 1000'],
  [{ repositoryId: 10, records: [] }, { onBatch: 5 }, 'exchange.import needs onBatch'],
])('arguments that are not valid are named: %j %j', async (request, options, message) => {
  const call = Reflect.apply(forge.exchange.import, forge.exchange, [olga, request, options])

  await expect(call).rejects.toThrow(message)
})
