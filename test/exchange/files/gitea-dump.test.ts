import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ExchangeRecord, IssueSource } from '../../../src/exchange/exchange.ts'
import { readExchange, readIssues } from '../../../src/exchange/exchange.ts'
import { openIssueSource, writeGiteaDump } from '../../../src/exchange/files.ts'
import type { Person } from '../../core/a-forge.ts'
import { aForge } from '../../core/a-forge.ts'
import { MemoryTracker } from '../../core/exchange/memory-tracker.ts'
import { allOf, textOf } from '../../core/exchange/records.ts'
import { issuesOf } from '../../schema/documents/generated-issues.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { newFolder } from '../../start-forgelet.ts'
import { FOLDERS, giteaDump, optionsOf } from '../forges/samples.ts'
import { canonical, folderOf, readSource, wordsOf } from '../reading.ts'

const RUNS = process.env['LONG'] === '1' ? 500 : 30
const REPOSITORY = { owner: 'acme', name: 'rocket' }
/** Texts that a reader of YAML 1.1 or 1.2 takes for something else when they are not quoted, and others. */
const AWKWARD: readonly string[] = [
  ...['yes', 'null', '~', '1e3', '0x1F', '0o17', '1_000', '12:30:45', '2024-02-29', '.nan', '<<', '=', '- a', 'a: b'],
  ...['# a', 'a\r\nb', ' a ', '\ta', 'a\n', '\u2028', '\u0085', '\ufeff', '\u007f', '\uffff', '\u{1f680}'],
  ...['\u{1ffff}', '', '"\\', "'"],
]

const texts = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
)
const times = fc.constantFrom('2024-02-29T08:30:00Z', '2016-12-31T23:59:60Z', '2024-03-01T10:00:00.52+02:00')
/** Gitea takes each label and each reaction of an issue once. */
const once = <T>(list: readonly T[], keyOf: (element: T) => string): T[] => [
  ...new Map(list.map((element) => [keyOf(element), element])).values(),
]
const issues = issuesOf({
  ...{ number: fc.integer({ min: 1 }), id: fc.integer(), text: texts, time: times },
  label: fc.record({ name: texts, color: texts, description: texts }, { requiredKeys: ['name'] }),
}).map(({ labels, reactions, ...issue }) => ({
  ...issue,
  ...(labels && { labels: once(labels, ({ name }) => name) }),
  ...(reactions && {
    reactions: once(reactions, ({ user_id, user_name, content }) => `${user_id} ${user_name ?? ''} ${content}`),
  }),
}))

/** All records but labels in one order, with times and lists as a canonical document has them. */
function contentsOf(records: readonly ExchangeRecord[]): readonly string[] {
  const texts = records.flatMap((record) => {
    if (record.kind === 'label') return []
    const whole = canonical(record)
    return JSON.stringify(whole.kind === 'comment' ? Object.entries(whole.comment).sort() : whole)
  })
  return texts
    .map((text) => text.replaceAll('.000Z', 'Z').replace(/,"reactions":\[\]|,\["reactions",\[\]\]/, ''))
    .sort()
}

let folder = ''
let count = 0
beforeAll(async () => {
  folder = await newFolder()
})

const newTarget = (): string => join(folder, `${++count}`)
const documentOf = (source: IssueSource): Promise<string> => textOf(readIssues(source))

/** Writes a dump, and returns its folder. */
async function written(records: Parameters<typeof writeGiteaDump>[1]): Promise<string> {
  const target = newTarget()
  await writeGiteaDump(target, records, REPOSITORY)
  return target
}

describe('a Gitea dump', () => {
  test('of a document has the same document', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(issues, { maxLength: 4, selector: ({ number }) => number }), async (document) => {
        const json = JSON.stringify(document)
        const dump = await written(readExchange({ json }))
        expect(await documentOf(await openIssueSource(dump))).toBe(await documentOf({ json }))
      }),
      { numRuns: RUNS },
    )
  })

  test.each(Object.entries(FOLDERS))(
    'of a folder %s has the same records, also through a tracker',
    async (forge, files) => {
      const original = await readSource(folderOf(files), optionsOf(forge))
      const tracker = new MemoryTracker<Person>()
      const { exchange } = aForge({ issues: tracker })
      await exchange.import('system', { repositoryId: 10, records: original.records })
      const exported = await allOf(exchange.exportAll('system', 10))
      const again = await readSource(await openIssueSource(await written(exported)))

      expect(original.violations).toEqual([])
      expect(original.records.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['issue', 'comment']))
      expect(contentsOf(exported)).toEqual(contentsOf(original.records))
      expect(contentsOf(again.records)).toEqual(contentsOf(original.records))
      expect(again.violations).toEqual([])
    },
  )

  test('has the labels and milestones that only issues name, and the comments by issue', async () => {
    const comment = { issue_number: 7, poster_id: 3, poster_name: 'mia', content: 'a', created: bareIssue.created }
    const records: ExchangeRecord[] = [
      { kind: 'issue', issue: fullIssue },
      { kind: 'issue', issue: { ...bareIssue, number: 8 } },
      ...[7, 8, 7].map((issue_number) => {
        return { kind: 'comment', comment: { ...comment, updated: bareIssue.updated, issue_number } } as const
      }),
    ]
    const target = await written(records)
    const outcome = await readSource(await openIssueSource(target))

    expect((await readdir(target, { recursive: true })).sort()).toEqual(
      ['comments', 'comments/7.yml', 'comments/8.yml', 'issue.yml', 'label.yml', 'milestone.yml', 'repo.yml'].sort(),
    )
    expect(outcome.records.map(({ kind }) => kind)).toEqual([
      ...['label', 'label', 'milestone', 'issue', 'comment', 'comment', 'issue', 'comment'],
    ])
  })

  test.each([
    [{ ...bareIssue, number: 1.5 }, '/0/number'],
    [{ ...bareIssue, poster_id: 2 ** 53 }, '/0/poster_id'],
    [{ ...bareIssue, reactions: [{ user_id: -0.5, content: 'eyes' }] }, '/0/reactions/0/user_id'],
  ])('refuses a number that Gitea cannot read, %#', async (issue, pointer) => {
    await expect(written([{ kind: 'issue', issue }])).rejects.toMatchObject({
      code: 'INVALID_DOCUMENT',
      details: { violations: [{ pointer, code: 'integer' }] },
    })
  })

  test('refuses a number twice, which is a key of Gitea', async () => {
    const issues = [7, 8, 7].map((number): ExchangeRecord => ({ kind: 'issue', issue: { ...bareIssue, number } }))
    await expect(written(issues)).rejects.toMatchObject({
      code: 'INVALID_DOCUMENT',
      details: { violations: [{ pointer: '/2/number', code: 'duplicate_number' }] },
    })
  })

  test('appears whole or not at all', async () => {
    const records: ExchangeRecord[] = [{ kind: 'issue', issue: { ...bareIssue, title: JSON.parse('1') } }]
    await expect(written(records)).rejects.toMatchObject({ code: 'INVALID_DOCUMENT' })
    expect(await readdir(folder)).not.toContain(`${count}`)
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])

    const full = await written([])
    await expect(writeGiteaDump(full, [], REPOSITORY)).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    await expect(writeGiteaDump(newTarget(), [], { owner: '', name: 'a' })).rejects.toThrow(TypeError)
  })

  test('is YAML by the names of its files, also alone', async () => {
    const file = join(folder, 'alone.yml')
    await writeFile(file, giteaDump['issue.yml'] ?? '')
    expect((await readSource(await openIssueSource(file))).records).toHaveLength(2)
  })
})

test('a reader of YAML 1.1 reads every text of a dump as a text', async () => {
  const records = AWKWARD.map((text, at) => ({ number: at + 1, title: text, content: text, ref: text }))
  const target = await written(records.map((record) => ({ kind: 'issue', issue: { ...fullIssue, ...record } })))

  expect(parse(await readFile(join(target, 'issue.yml'), 'utf8'), { version: '1.1' })).toMatchObject(
    records.map((record) => ({ ...record, created: fullIssue.created, foreignindex: record.number })),
  )
})

/**
 * What `gitea restore-repo` of Gitea 1.26 reads, field by field: the Go types of modules/migration/*.go, in which
 * gopkg.in/yaml.v3 reads the files. It refuses a file with a value of another type. A time is what time.Time reads, in
 * which RFC 3339 has no leap second and no small letters.
 */
const TIME = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const [string, bool, time] = [expect.any(String), expect.any(Boolean), expect.stringMatching(TIME)]
const int64 = expect.toSatisfy(Number.isSafeInteger)
const maybeTime = expect.toSatisfy((value) => value === null || TIME.test(String(value)))
const listOf = (type: unknown) =>
  expect.toSatisfy((list: unknown[]) => {
    expect(list).toEqual(list.map(() => type))
    return true
  })
const REACTION = { user_id: int64, user_name: string, content: string }
const LABEL = { name: string, color: string, description: string, exclusive: bool }
const MILESTONE = {
  ...{ title: string, description: string, deadline: maybeTime, created: time, updated: maybeTime, closed: maybeTime },
  state: string,
}
const POSTER = { poster_id: int64, poster_name: string, poster_email: string }
const ISSUE = {
  ...{ number: int64, ...POSTER, title: string, content: string, ref: string, milestone: string, state: string },
  ...{ is_locked: bool, created: time, updated: time, closed: maybeTime, labels: listOf(LABEL) },
  ...{ reactions: listOf(REACTION), assignees: listOf(string), foreignindex: int64 },
}
const COMMENT = {
  ...{ issue_index: int64, index: int64, comment_type: string, ...POSTER, created: time, updated: time },
  ...{ content: string, reactions: listOf(REACTION) },
}

describe('a dump of all units', () => {
  const issue =
    '- number: 1\n  foreignindex: 1\n  title: a\n  poster_id: 1\n  poster_name: mia\n  state: open\n  created: 2024-05-01T08:00:00Z\n  updated: 2024-05-01T08:00:00Z\n'
  const read = async (files: Readonly<Record<string, string>>) => {
    const records = readExchange(folderOf({ 'issue.yml': issue, ...files }))
    return { all: await allOf(records), greatest: records.greatestLeftOut() }
  }

  test('keeps the numbers of its pull requests from new issues', async () => {
    const files = { 'pull_request.yml': '- number: 2\n  title: b\n- number: 7\n  title: c\n', 'reviews/2.yml': '[]' }
    const { all, greatest } = await read(files)

    expect([all.length, greatest]).toEqual([1, 7])
    expect(wordsOf(await readSource(folderOf({ 'issue.yml': issue, ...files })))).toEqual({
      pull_request: 2,
      pull_request_comments: 1,
    })
  })

  test.each(['0001-01-01T00:00:00Z', '9999-01-01T00:00:00Z', 'null'])(
    'has milestones that are not due: %s',
    async (time) => {
      const milestone = `- title: v1\n  deadline: ${time}\n  created: 2024-05-01T08:00:00Z\n  state: open\n`
      const { all } = await read({ 'milestone.yml': milestone })

      expect(all[0]).toEqual({
        kind: 'milestone',
        milestone: { title: 'v1', created: '2024-05-01T08:00:00Z', state: 'open' },
      })
    },
  )
})

describe('the files of a dump have what the reader of Gitea requires', () => {
  const times = { created: '2016-12-31T23:59:60Z', updated: '2024-03-01t10:00:00.52+02:00' }
  const comment = { issue_number: 7, poster_id: 3, poster_name: 'mia', content: 'a', ...times }
  const records: readonly ExchangeRecord[] = [
    { kind: 'label', label: { name: 'bug' } },
    { kind: 'milestone', milestone: { title: '1.0', state: 'open' } },
    {
      kind: 'milestone',
      milestone: { title: '2.0', state: 'closed', ...times, deadline: times.updated, closed: null },
    },
    { kind: 'issue', issue: { ...fullIssue, ...times, milestone: 'only here' } },
    { kind: 'comment', comment },
    { kind: 'comment', comment: { ...comment, reactions: [{ user_id: 1, content: '+1' }] } },
    { kind: 'issue', issue: { ...bareIssue, number: 8, created: '9999-12-31T23:59:59-05:00' } },
  ]

  test.each([
    ['issue.yml', ISSUE, 2],
    ['label.yml', LABEL, 2],
    ['milestone.yml', MILESTONE, 3],
    ['comments/7.yml', COMMENT, 2],
  ])('%s', async (name, type, count) => {
    expect(parse(await readFile(join(await written(records), name), 'utf8'), { version: '1.1' })).toEqual(
      new Array(count).fill(type),
    )
  })

  test('a label or a reaction that an issue has twice once', async () => {
    const reactions = ['+1', '+1', 'eyes'].map((content) => ({ user_id: 0, user_name: 'ghost', content }))
    const labels = ['bug', 'bug', 'Bug'].map((name) => ({ name, color: 'ee0701' }))
    const issue = { ...fullIssue, labels, reactions }
    const target = await written([
      { kind: 'issue', issue },
      { kind: 'comment', comment: { ...comment, reactions } },
    ])
    const [first] = parse(await readFile(join(target, 'issue.yml'), 'utf8'))
    const [answer] = parse(await readFile(join(target, 'comments/7.yml'), 'utf8'))

    expect(first).toMatchObject({
      labels: [{ name: 'bug' }, { name: 'Bug' }],
      reactions: [{ content: '+1' }, { content: 'eyes' }],
    })
    expect(answer.reactions).toEqual(first.reactions)
  })

  test('the address of the repository whose accounts the authors have', async () => {
    const originalUrl = 'https://git.example.com/acme/rocket'
    const target = newTarget()
    await writeGiteaDump(target, [], { ...REPOSITORY, originalUrl })

    expect(parse(await readFile(join(target, 'repo.yml'), 'utf8'))).toMatchObject({ original_url: originalUrl })
  })

  test('repo.yml, a map of texts', async () => {
    const repository: object = parse(await readFile(join(await written([]), 'repo.yml'), 'utf8'))

    expect(Object.keys(repository)).toHaveLength(15)
    expect(Object.values(repository).filter((value) => typeof value === 'object')).toEqual([])
  })
})
