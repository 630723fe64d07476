import { beforeAll, describe, expect, test } from 'vitest'
import { hostPresenter } from '../../../src/standalone/presenter/presenter.ts'
import type { TrackerWorld } from './tracker-world.ts'
import { comment, FULL, incoming, plain } from './tracker-world.ts'

const sam = { id: '4', username: 'sam' }
const walt = { id: '5', username: 'walt' } // an admin of the repository
const alice = { id: '1', username: 'Alice' } // a site admin

/** What the tracker of the standalone host does. Each test has numbers of its own. */
export function trackerSuite(open: () => Promise<TrackerWorld>): void {
  describe('a tracker in tables', () => {
    let world: TrackerWorld

    beforeAll(async () => {
      world = await open()
    })

    const read = (...numbers: readonly number[]): Promise<readonly object[]> =>
      world.issues({ repositoryId: '1', numbers })

    test('returns an issue as it was written, with every property', async () => {
      await world.write({ create: [incoming(FULL)] })
      expect(await read(40)).toEqual([FULL])
    })

    test('returns what was written here with its accounts, and pull requests as taken', async () => {
      const found = await read(8, 2, 1, 99)
      expect(found).toMatchObject([{ number: 1, poster_id: 3, poster_name: 'mia' }, { number: 2, taken: true }, {}])
      expect(found).toMatchObject([
        { assignees: ['olga', 'walt'], labels: [{ name: 'idea' }, { name: 'bug' }] },
        {},
        {},
      ])
    })

    test('keeps the offset of a time that UTC cannot express', async () => {
      const far = { created: '0000-01-01T00:00:00+05:30', updated: '9999-12-31T23:59:59.900-23:59' }
      const record = plain(45, { ...far, closed: '9999-12-31T23:59:59Z' })
      await world.write({ create: [incoming(record)], comments: [comment(45, '', far)] })
      expect(await read(45)).toEqual([record])
      expect(await world.comments([45])).toMatchObject([{ created: far.created, updated: far.updated }])
    })

    test('stores long texts, and many in one batch', async () => {
      const long = [50, 51, 52].map((number) => plain(number, { content: `${'å🚀\n"'.repeat(600_000)}${number}` }))
      await world.write({ create: long.map((record) => incoming(record)) })
      for (const record of long) expect(await read(record.number)).toEqual([record])
    })

    test('replaces an issue whole, and leaves its comments', async () => {
      await world.write({ create: [incoming({ ...FULL, number: 60 })], comments: [comment(60, 'first')] })
      const next = plain(60, { closed: '2020-01-02T00:00:00Z', assignees: ['sam'], labels: [{ name: 'later' }] })
      await world.write({ update: [incoming(next)], comments: [comment(60, 'second'), comment(60, 'third')] })
      expect(await read(60)).toEqual([next])
      expect((await world.comments([60])).map(({ content }) => content)).toEqual(['first', 'second', 'third'])
      const [details] = await world.store.issues([await world.idOf(60)])
      expect(details).toMatchObject({ issue: { commentCount: 3 }, labels: [{ name: 'later' }], assignees: [] })
    })

    test('returns comments by issue, oldest first, with their reactions', async () => {
      const reactions = [
        { user_id: 7, user_name: 'x', content: 'heart' },
        { user_id: 8, content: '-1' },
      ]
      const old = comment(62, 'old \u{1f600}', { created: '2001-01-01T00:00:00.5Z', reactions })
      await world.write({
        create: [incoming(plain(62)), incoming(plain(61))],
        comments: [comment(62, 'new'), comment(62, 'also new'), old, comment(61, 'other')],
      })
      const found = await world.comments([62, 61, 99])
      expect(found.map(({ issue_number, content }) => [issue_number, content])).toEqual([
        [61, 'other'],
        [62, 'old \u{1f600}'],
        [62, 'new'],
        [62, 'also new'],
      ])
      expect(found[1]).toEqual({ ...old.record, created: '2001-01-01T00:00:00.500Z' })
    })

    test('makes the labels and milestones that are missing, and leaves those that exist', async () => {
      const milestone = { title: 'Mars', state: 'closed', closed: '2020-01-01T00:00:00Z' } as const
      await world.write({
        labels: [{ name: 'fresh', color: '112233' }, { name: 'fresh' }, { name: 'idea', color: 'other' }],
        milestones: [milestone, { title: 'Mars', state: 'open' }],
        create: [incoming(plain(70, { milestone: 'Mars', labels: [{ name: 'fresh' }, { name: 'own', color: '4' }] }))],
      })
      await world.write({ milestones: [{ title: 'Mars', state: 'open' }], labels: [{ name: 'own' }] })
      expect(await read(70)).toMatchObject([
        {
          milestone: 'Mars',
          labels: [
            { name: 'fresh', color: '112233' },
            { name: 'own', color: '4' },
          ],
        },
      ])
      const { labels, milestones } = JSON.parse(JSON.stringify(await world.labelsAndMilestones()))
      expect(milestones.filter(({ title }: { title: string }) => title === 'Mars')).toEqual([milestone])
      expect(labels.filter(({ name }: { name: string }) => name === 'fresh')).toHaveLength(1)
      expect(labels).toContainEqual({ name: 'idea', color: 'cccccc' })
    })

    test('returns the next numbers in order, deleted ones among them', async () => {
      await world.write({ repositoryId: '3', create: [9, 3, 5, 1, 7].map((number) => incoming(plain(number))) })
      await world.run('insert into host_deleted_issues (id, repository_id, issue_index) values (5000, 3, 4)')
      const numbers = async (after: number, limit: number): Promise<unknown> => {
        const found = await world.issues({ repositoryId: '3', after, limit })
        return found.map((answer) => ('taken' in answer ? 'deleted' : Reflect.get(answer, 'number')))
      }
      expect(await numbers(0, 3)).toEqual([1, 3, 'deleted'])
      expect(await numbers(4, 2)).toEqual([5, 7])
      expect(await numbers(7, 100)).toEqual([9])
      expect(await world.issues({ repositoryId: '3', numbers: [4] })).toEqual([{ number: 4, taken: true }])
    })

    test('returns an issue with a long text alone, and skips no number around it', async () => {
      const [short, long] = ['é'.repeat(50_000), 'é'.repeat(50_001)]
      const contents = [short, short, long, long, '']
      const create = contents.map((content, at) => incoming(plain(20 + 2 * at, { content })))
      await world.write({ repositoryId: '3', create })
      await world.run('insert into host_deleted_issues (id, repository_id, issue_index) values (5001, 3, 25)')
      const page = async (after: number): Promise<unknown> => {
        const found = await world.issues({ repositoryId: '3', after, limit: 100 })
        return found.map((answer) => [Reflect.get(answer, 'number'), Reflect.get(answer, 'content')])
      }
      expect(await page(19)).toEqual([
        [20, short],
        [22, short],
      ])
      expect(await page(22)).toEqual([[24, long]])
      expect(await page(24)).toEqual([
        [25, undefined],
        [26, long],
      ])
      expect(await page(26)).toEqual([[28, '']])
      const numbered = await world.issues({ repositoryId: '3', numbers: [24, 26] })
      expect(numbered.map((answer) => Reflect.get(answer, 'content'))).toEqual([long, long])
    })

    test('never assigns the id of a deleted issue again', async () => {
      await world.run('insert into host_deleted_issues (id, repository_id, issue_index) values (6000, 4, 1)')
      await world.write({ repositoryId: '4', create: [incoming(plain(2))] })
      expect(await world.store.findIssue('4', 2)).toMatchObject({ id: '6001' })
    })

    test('finds users by name in any case, in the order asked', async () => {
      const users = ['WALT', 'unknown', 'Acme', 'olga', 'walt', 'x'.repeat(400)].map((name) => ({
        id: 1,
        name,
        email: undefined,
      }))
      expect(await world.findUsers(users)).toEqual(['5', undefined, undefined, '2', '5', undefined])
      expect(await world.findUsers([])).toEqual([])
    })

    test.each([
      [81, alice, ['zoe@example.com', 'yan@example.com']],
      [82, walt, ['zoe@example.com', 'yan@example.com']],
      [83, 'system', ['zoe@example.com', 'yan@example.com']],
      [84, sam, []],
      [85, 'anonymous', []],
    ] as const)('shows addresses to admins of the site and of the repository alone: of %i to %j', async (...given) => {
      const [number, actor, shown] = given
      await world.write({ create: [incoming({ ...FULL, number })], comments: [comment(number, 'hello')] })
      const issues = await world.issues({ repositoryId: '1', numbers: [7, number] }, actor)
      const comments = await world.comments([number], actor)
      // The user of issue 7 hides the address.
      expect(JSON.stringify([issues, comments]).match(/\w+@example[.]com/g) ?? []).toEqual(shown)
    })

    test('puts nothing under the name of an account that is not attributed', async () => {
      await world.write({ create: [incoming({ ...FULL, number: 100, poster_name: 'olga' })] }, walt)
      await world.write({ create: [incoming({ ...FULL, number: 101, milestone: 'Shown', state: 'closed' })] })
      await world.write({
        create: [
          incoming({ ...FULL, number: 102, milestone: 'Shown' }, { posterId: '2', assigneeIds: ['2', null, '2'] }),
        ],
      })
      const ids = await Promise.all([100, 101, 102].map((number) => world.idOf(number)))
      const { issues } = hostPresenter(world.store, undefined)
      const shown = await issues(ids, { actor: 'anonymous' })
      expect(shown).toMatchObject([
        { user: { login: 'walt' }, original_author: 'olga', original_author_id: 901, assignees: null },
        { user: { login: 'Acme' }, original_author: 'Zoë ☃', closed_at: '2020-02-29T12:00:00Z', is_locked: true },
        { user: { login: 'olga' }, original_author: '', original_author_id: 0, assignees: [{ login: 'olga' }] },
      ])
      expect(shown[2]).toMatchObject({
        ref: 'refs/heads/next',
        milestone: { title: 'Shown', state: 'open', open_issues: 1, closed_issues: 1, due_on: null },
        labels: [{ name: 'bug' }, { name: 'Bug' }, { name: 'bug ' }],
      })
      expect(await read(102)).toEqual([{ ...FULL, number: 102, milestone: 'Shown' }])
    })

    test('leaves nothing of a batch whose transaction ends otherwise', async () => {
      const before = await Promise.all(TABLES.map((table) => world.run(`select count(*) as count from host_${table}`)))
      const failing = world.write(
        {
          labels: [{ name: 'gone' }],
          milestones: [{ title: 'gone', state: 'open' }],
          create: [incoming({ ...FULL, number: 110 })],
          update: [incoming(plain(1))],
          comments: [comment(110, 'gone'), comment(1, 'gone')],
        },
        'system',
        () => {
          throw new RangeError('the host gives up')
        },
      )
      await expect(failing).rejects.toThrow('the host gives up')
      expect(
        await Promise.all(TABLES.map((table) => world.run(`select count(*) as count from host_${table}`))),
      ).toEqual(before)
      expect(await read(1, 110)).toMatchObject([{ number: 1, title: 'Read this first' }])
    })

    test('refuses a repository that does not exist', async () => {
      await expect(world.write({ repositoryId: '999', create: [incoming(plain(1))] })).rejects.toMatchObject({
        code: 'REPOSITORY_NOT_FOUND',
      })
    })

    test('gives issues that are written at once ids of their own', async () => {
      const numbers = [201, 202, 203, 204]
      const writes = numbers.flatMap((number) => [
        world.write({ create: [incoming({ ...FULL, number })], comments: [comment(number, 'a')] }),
        world.write({ repositoryId: '2', create: [incoming({ ...FULL, number })] }),
      ])
      await Promise.all(writes)
      expect(await read(...numbers)).toHaveLength(4)
      expect(await world.issues({ repositoryId: '2', numbers })).toHaveLength(4)
      expect(await world.comments(numbers)).toHaveLength(4)
    })
  })
}

const TABLES = [
  'labels',
  'milestones',
  'issues',
  'issue_labels',
  'issue_assignees',
  'issue_assignee_names',
  'issue_reactions',
  'comments',
  'comment_reactions',
]
