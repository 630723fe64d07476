import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HostDirectory } from '../../../app/standalone/host-store/host-directory.ts'
import { openHostDatabase } from '../../../app/standalone/host-store/open-host-database.ts'
import { createTracker } from '../../../app/standalone/host-store/tracker.ts'
import type { Standalone, StandaloneUser } from '../../../app/standalone/standalone.ts'
import { openStandalone } from '../../../app/standalone/standalone.ts'
import { trackerContract } from '../../../app/testing/testing.ts'
import type { ExchangeRecord, ExchangeService, ImportOptions, IssueRecord, IssueTracker } from '../../../src/index.ts'
import { allOf, anIssue, commentsOf, textOf } from '../../core/exchange/records.ts'
import type { AnyKind, DatabaseKind, TestDatabase } from '../../databases.ts'
import { newDatabase, onDatabases } from '../../databases.ts'
import { generatedDocument } from '../../schema/documents/generated-issues.ts'
import { alice, onHosts, sam, walt } from '../open-host.ts'

const NONE = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
const document = generatedDocument()

/** Defines what the exchange of the standalone host does on these databases. Each test has numbers of its own. */
export function exchangeSuite(kinds: readonly AnyKind[]): void {
  onDatabases(kinds, (_open, kind) => repositoriesSuite(kind))

  onHosts(kinds, (open) => {
    const exchange = () => open().host.forge.exchange
    /** Imports into a repository: the first, if no other is named. */
    const importing = (
      records: Parameters<ExchangeService<StandaloneUser>['import']>[1]['records'],
      options: ImportOptions & { readonly into?: string; readonly by?: StandaloneUser } = {},
    ) => {
      const { into = '1', by = 'system', ...rest } = options
      return exchange().import(by, { repositoryId: into, records }, rest)
    }
    const issues = async (repositoryId: string): Promise<readonly IssueRecord[]> =>
      JSON.parse(await open().exported(repositoryId))
    /** An issue of the first repository, as the API shows it when it is pinned. */
    const shown = async (number: number): Promise<unknown> => {
      const pin = `/repos/acme/rocket/issues/${number}/pin`
      await open().json(alice, 'POST', pin)
      const pinned = (await open().json(null, 'GET', '/repos/acme/rocket/issues/pinned')) as IssueRecord[]
      await open().json(alice, 'DELETE', pin)
      return pinned.find((one) => one.number === number)
    }

    test('exports what was imported, to the byte, and an import of that changes nothing', async () => {
      const canonical = await textOf(document.toSorted((one, other) => one.number - other.number))
      const first = await importing(document, { into: '2', batch: 60 })
      expect(first).toMatchObject({ issues: { ...NONE, created: document.length }, comments: NONE })
      expect((await open().exported('2')) === canonical).toBe(true)

      const before = await open().contents()
      const second = await importing(JSON.parse(canonical), { into: '2' })
      expect(second).toMatchObject({ issues: { ...NONE, unchanged: document.length }, comments: NONE })
      expect(await open().contents()).toEqual(before)
    })

    test('carries labels, milestones and comments from one repository to another', async () => {
      await importing(RECORDS, { into: '3' })
      const once = await open().exportAll('3')
      expect(once).toEqual(RECORDS)
      const report = await importing(once, { into: '4' })
      expect(report).toMatchObject({ issues: { created: 2 }, comments: { created: 3 }, notCarried: [] })
      expect(await open().exportAll('4')).toEqual(RECORDS)
      const again = await importing(once, { into: '4' })
      expect(again).toMatchObject({ issues: { ...NONE, unchanged: 2 }, comments: { ...NONE, unchanged: 3 } })
    })

    test('refuses the number of a pull request, and a repository that does not exist', async () => {
      for (const onConflict of ['refuse', 'skip', 'update'] as const) {
        await expect(importing([anIssue(2)], { onConflict })).rejects.toMatchObject({
          code: 'IMPORT_CONFLICT',
          details: { number: 2, reason: 'taken' },
        })
      }
      await expect(importing([anIssue(1)], { into: '999' })).rejects.toMatchObject({ code: 'REPOSITORY_NOT_FOUND' })
      expect((await issues('1')).map(({ number }) => number)).not.toContain(2)
    })

    test('puts issues under the accounts of their authors for a site admin alone', async () => {
      const people = {
        poster_name: 'OLGA',
        assignees: ['walt', 'unknown-user', 'Acme'],
        reactions: [{ user_id: 8, user_name: 'sam', content: 'eyes' }],
      }
      const records: readonly ExchangeRecord[] = [
        { kind: 'issue', issue: anIssue(3_000_300, people) },
        { kind: 'comment', comment: { ...COMMENT, issue_number: 3_000_300, poster_name: 'zoe' } },
      ]
      const options = { attribution: 'accounts', users: { zoe: 'mia' } } as const
      await expect(importing(records, { ...options, by: walt })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      expect(await importing(records, { ...options, by: alice })).toMatchObject({
        issues: { ...NONE, created: 1 },
        unknownUsers: { total: 2 }, // an organization is no user
      })
      expect(await shown(3_000_300)).toMatchObject({
        user: { login: 'olga' },
        original_author: '',
        assignees: [{ login: 'walt' }],
        comments: 1,
      })
    })

    test('gives accounts to what was imported by names, also in long records, and exports it as it was', async () => {
      const people = { poster_name: 'Zoe', assignees: ['zoe.old', 'nobody'] }
      const reactions = [{ user_id: 8, user_name: 'zoe.old', content: 'eyes' }]
      await importing(
        [
          anIssue(3_000_320, { ...people, reactions }),
          anIssue(3_000_321, { ...people, content: 'long '.repeat(40_000) }),
          ...commentsOf({ ...COMMENT, issue_number: 3_000_321, poster_name: 'Zoe', reactions }),
        ],
        { by: alice },
      )
      const before = await open().exportAll('1')
      const mapped = { repositoryId: '1', people: { Zoe: 'mia', 'zoe.old': 'walt', nobody: 'no-such-user' } }
      await expect(exchange().reattribute(walt, mapped)).rejects.toMatchObject({ code: 'FORBIDDEN' })
      expect((await exchange().reattribute(alice, mapped)).people).toEqual([
        { name: 'Zoe', named: 3, remains: false, issues: 2, assignees: 0, comments: 1, reactions: 0 },
        { name: 'zoe.old', named: 4, remains: false, issues: 0, assignees: 2, comments: 0, reactions: 2 },
        { name: 'nobody', named: 2, remains: true, issues: 0, assignees: 0, comments: 0, reactions: 0 },
      ])
      expect(await shown(3_000_320)).toMatchObject({
        user: { login: 'mia' },
        original_author: '',
        assignees: [{ login: 'walt' }],
      })
      expect(await open().exportAll('1')).toEqual(before)
    })

    test('puts nothing under the name of an account that is not attributed', async () => {
      await importing([{ ...FULL, number: 3_000_310, poster_name: 'olga' }], { by: walt })
      await importing([{ ...FULL, number: 3_000_311, milestone: 'Shown', state: 'closed' }])
      expect(await shown(3_000_310)).toMatchObject({
        user: { login: 'walt' },
        original_author: 'olga',
        original_author_id: 901,
        assignees: null,
      })
      expect(await shown(3_000_311)).toMatchObject({
        ...{ user: { login: 'Acme' }, original_author: 'Zoë ☃', closed_at: '2020-02-29T12:00:00Z', is_locked: true },
        milestone: { title: 'Shown', state: 'open', open_issues: 0, closed_issues: 1, due_on: null },
        labels: [{ name: 'bug' }, { name: 'Bug' }, { name: 'bug ' }],
        ref: 'refs/heads/next',
      })
    })

    test('imports one document by two hosts at once, and has nothing twice', async () => {
      const records = Array.from({ length: 100 }, (_, at) => [
        { kind: 'issue', issue: { ...FULL, number: at + 1 } } as const,
        { kind: 'comment', comment: { ...COMMENT, issue_number: at + 1 } } as const,
      ]).flat()
      const other = await openStandalone({ db: open().database.url, logger: false })
      onTestFinished(() => other.close())
      const reports = await Promise.all(
        [open().host, other].map(({ forge }) =>
          forge.exchange.import('system', { repositoryId: '5', records }, { batch: 9 }),
        ),
      )
      const created = reports.map((report) => [report.issues.created, report.comments.created])
      expect(created.reduce(([one = 0, other = 0], [a = 0, b = 0]) => [one + a, other + b])).toEqual([100, 100])
      const all = await open().exportAll('5')
      expect(all.filter(({ kind }) => kind === 'issue' || kind === 'comment')).toEqual(records)
      expect(all.filter(({ kind }) => kind === 'milestone')).toHaveLength(1)
      expect(all.filter(({ kind }) => kind === 'label')).toHaveLength(3)
    })

    test('counts the comments that are added to an issue which is replaced', async () => {
      const said = (...contents: readonly string[]) =>
        commentsOf(...contents.map((content) => ({ ...COMMENT, issue_number: 3_000_410, content })))
      await importing([{ kind: 'issue', issue: { ...FULL, number: 3_000_410 } }, ...said('first')])
      const next = anIssue(3_000_410, { labels: [{ name: 'later' }] })
      await importing([{ kind: 'issue', issue: next }, ...said('second', 'third')], { onConflict: 'update' })

      expect(await shown(3_000_410)).toMatchObject({ comments: 3, labels: [{ name: 'later' }], assignees: null })
    })

    test('keeps milestones as a canonical document has them, and gives an issue without one none', async () => {
      const mars = { title: 'Mars', state: 'closed', closed: '2020-01-01T00:00:00Z' } as const
      const asWritten = { ...mars, description: '', deadline: null, closed: '2020-01-01T01:00:00.000+01:00' }
      await importing([
        { kind: 'milestone', milestone: asWritten },
        { kind: 'milestone', milestone: { title: '', state: 'open' } },
        { kind: 'issue', issue: anIssue(3_000_420, { milestone: 'Mars' }) },
        { kind: 'issue', issue: anIssue(3_000_421) },
      ])

      expect(await open().exportAll('1')).toContainEqual({ kind: 'milestone', milestone: mars })
      expect(await shown(3_000_420)).toMatchObject({ milestone: { title: 'Mars' } })
      expect(await shown(3_000_421)).toMatchObject({ milestone: null })
    })

    test('returns issues in order, and skips none around a long text', async () => {
      const [short, long] = ['é'.repeat(50_000), 'é'.repeat(50_001)]
      const contents = [short, short, long, long, '']
      const records = contents.map((content, at) => anIssue(28 - 2 * at, { content }))
      await importing(records, { into: '4' })

      const found = (await issues('4')).filter(({ number }) => number >= 20)
      expect(found.map(({ number }) => number)).toEqual([20, 22, 24, 26, 28])
      expect(found.map(({ content }) => content)).toEqual(contents.toReversed())
    })

    test.each([
      [alice, true],
      [walt, true],
      ['system', true],
      [sam, false],
      ['anonymous', false],
    ] as const)('shows addresses to admins of the site and of the repository alone: to %j %s', async (caller, are) => {
      await importing([{ ...FULL, number: 3_000_430 }], { onConflict: 'skip' })

      expect((await open().exported('1', caller)).includes('zoe@example.com')).toBe(are)
    })
  })
}

/** What needs a repository of its own: the contract of the package for a tracker, and imports in and beside transactions. */
function repositoriesSuite<Tx>(kind: DatabaseKind<Tx>): void {
  describe('in a new repository', () => {
    let database: TestDatabase<Tx>
    let host: Standalone
    let tracker: IssueTracker<StandaloneUser>
    let last = 0
    const newRepository = (): string => {
      last += 1
      return String(last)
    }

    beforeAll(async () => {
      database = await newDatabase(kind, { atEnd: afterAll })
      const repositories = Array.from({ length: 30 }, (_, at) => ({ owner: 'olga', name: `rocket-${at}` }))
      const fixture = { users: [{ username: 'olga' }, { username: 'mia' }], repositories }
      host = await openStandalone({ db: database.url, fixture, logger: false })
      afterAll(() => host.close())
      const opened = await openHostDatabase({ db: database.url })
      afterAll(() => opened.storage.close())
      tracker = createTracker(opened, new HostDirectory(opened))
    })

    const cases = trackerContract(async () => {
      const repositoryId = newRepository()
      return {
        forge: host.forge,
        tracker,
        repositoryId,
        users: [
          { id: '1', name: 'olga' },
          { id: '2', name: 'mia' },
        ],
        /** Users of this host create issues by imports alone. */
        async createIssue() {
          const { exchange } = host.forge
          let number = 1
          for await (const issue of exchange.export('system', repositoryId)) number = issue.number + 1
          await exchange.import('system', { repositoryId, records: [anIssue(number)] })
          return number
        },
        async rolledBack(work) {
          const begun = await database.begun()
          await work(begun.transaction)
          await begun.rollback()
        },
        close: async () => undefined,
      }
    })
    for (const { name, run } of cases) test(name, run)

    test.each([1, 7])(
      'an import races pins and the deletion of its repository after batch %i: nothing is stored behind the deletion',
      async (batch) => {
        const { forge } = host
        const { forge: other, close } = await openStandalone({ db: database.url, logger: false })
        onTestFinished(close)
        const repositoryId = newRepository()
        const records = Array.from({ length: 40 }, (_, index) => anIssue(index + 1))
        const issue = (id: number) => ({ id, repositoryId, kind: 'issue' as const })
        const beside: Promise<readonly PromiseSettledResult<unknown>[]>[] = []
        let batches = 0
        const onBatch = (): void => {
          batches += 1
          const { pins } = batches % 2 === 0 ? forge : other
          beside.push(
            Promise.allSettled([pins.pin('system', issue(batches)), pins.unpin('system', issue(batches - 1))]),
          )
          if (batches === batch) beside.push(Promise.allSettled([other.lifecycle.repositoryDeleted(repositoryId)]))
        }
        const importing = forge.exchange.import('system', { repositoryId, records }, { batch: 4, onBatch })
        const outcomes = [...(await Promise.allSettled([importing])), ...(await Promise.all(beside)).flat()]
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
        expect(await allOf(other.exchange.export('system', repositoryId))).toEqual(
          records.slice(0, 4 * imported.length),
        )
      },
    )
  })
}

/** The repository is gone, or a pin and an unpin came in another order. */
const REFUSED = /^(REPOSITORY_NOT_FOUND|ISSUE_NOT_PINNED|PIN_LIMIT_REACHED)$/

/** An issue with everything that a record may have. */
const FULL: IssueRecord = {
  number: 40,
  poster_id: 901,
  poster_name: 'Zoë ☃',
  poster_email: 'zoe@example.com',
  title: "Robert'); drop table host_issues;--",
  content: 'a\u2028b\r\nc\t"\\u0041" \u0001\u001f \u{1f600}\u{10ffff}\u{20000} \ufffe \ud7ff\ue000 %s $1 ? :a',
  ref: 'refs/heads/next',
  milestone: ' 1.0 ',
  state: 'open',
  is_locked: true,
  created: '1969-12-31T23:59:59.999Z',
  updated: '2038-01-19T03:14:08Z',
  closed: '2020-02-29T12:00:00.120Z',
  labels: [
    { name: 'bug', color: 'ee0701', description: 'Broken' },
    { name: 'Bug', color: 'x'.repeat(300) },
    { name: 'bug ', description: 'With a blank' },
  ],
  reactions: [
    { user_id: -1, content: '+1' },
    { user_id: Number.MAX_SAFE_INTEGER, user_name: 'Zoë', content: '\u{1f389}' },
    { user_id: -1, content: '+1' },
  ],
  assignees: ['olga', 'unknown-user', 'olga'],
}

const COMMENT = {
  issue_number: 1,
  poster_id: 7,
  poster_name: 'yan',
  poster_email: 'yan@example.com',
  created: '2021-01-01T00:00:00Z',
  updated: '2021-01-02T00:00:00.500Z',
  content: 'Good \u{1f44d}\r\n',
}

/** Everything that an exchange carries, in the order and the form of an export. */
const RECORDS: readonly ExchangeRecord[] = [
  { kind: 'label', label: { name: 'bug', color: 'ee0701', description: 'Broken' } },
  { kind: 'label', label: { name: 'unused' } },
  {
    kind: 'milestone',
    milestone: { title: '1.0', description: 'First', deadline: '2030-01-01T00:00:00Z', state: 'open' },
  },
  {
    kind: 'milestone',
    milestone: { title: '2.0', created: '2020-01-01T00:00:00Z', closed: '2021-01-01T00:00:00Z', state: 'closed' },
  },
  {
    kind: 'milestone',
    milestone: {
      title: 'the first and the last year',
      deadline: '9999-12-31T23:59:59-05:00',
      created: '0000-01-01T00:00:00.500+01:00',
      updated: '2020-01-01T00:00:00Z',
      closed: '9999-12-31T20:00:00-23:59',
      state: 'closed',
    },
  },
  {
    kind: 'issue',
    issue: anIssue(3, { milestone: '1.0', labels: [{ name: 'bug', color: 'ee0701', description: 'Broken' }] }),
  },
  { kind: 'comment', comment: { ...COMMENT, issue_number: 3, reactions: [{ user_id: 7, content: '+1' }] } },
  { kind: 'comment', comment: { ...COMMENT, issue_number: 3, content: 'Again' } },
  { kind: 'issue', issue: anIssue(9) },
  { kind: 'comment', comment: { ...COMMENT, issue_number: 9 } },
]
