// Sources that are one object, or that hold issues inside of objects: Bitbucket and Redmine.
import { describe, expect, test } from 'vitest'
import type { ReadOptions } from '../../../src/exchange/exchange.ts'
import { bytesOf, folderOf, outcomeOf, piecesOf, readSource, wordsOf } from '../reading.ts'
import { bitbucketTracker, FOLDERS, redmineIssue } from './samples.ts'

const numbersIn = ({ issues }: { readonly issues: readonly { readonly number: number }[] }) =>
  issues.map(({ number }) => number)

describe('a tracker of Bitbucket', () => {
  const read = (changes: object, options: ReadOptions = {}) =>
    readSource({ json: JSON.stringify({ ...bitbucketTracker, ...changes }) }, options)
  const issuesWith = (changes: object) =>
    JSON.parse(JSON.stringify(bitbucketTracker['issues'])).map((issue: object) => ({ ...issue, ...changes }))

  test.each(['db-1.0.json', 'db-2.0.json'])('is read from %s alone, with the names that it has', async (file) => {
    const json = FOLDERS.bitbucket[file] ?? ''
    const whole = await readSource(folderOf(FOLDERS.bitbucket))
    for (const source of [{ json }, folderOf({ [`export/${file}`]: json })]) {
      const alone = await readSource(source)
      expect(alone.violations).toEqual([])
      expect(wordsOf(alone)).toEqual(wordsOf(whole))
      expect(numbersIn(alone)).toEqual([1, 3, 4, 5])
      const [mia, ada] = file === 'db-1.0.json' ? ['mia', 'ada'] : ['Mia Moreau', 'Ada Adler']
      expect(alone.issues[1]).toMatchObject({ poster_id: 0, poster_name: mia, assignees: [ada] })
    }
  })

  test('has the logins of the other database also where ids of issues and comments are the same', async () => {
    const [comment] = JSON.parse(JSON.stringify(bitbucketTracker['comments']))
    const comments = (user: unknown) => [{ ...comment, id: 3, issue: 3, user }]
    const old = { ...JSON.parse(FOLDERS.bitbucket['db-1.0.json'] ?? ''), comments: comments('ada') }
    const recent = { ...bitbucketTracker, comments: comments({ display_name: 'Ada Adler' }) }
    const files = { 'db-1.0.json': JSON.stringify(old), 'db-2.0.json': JSON.stringify(recent) }
    const { records } = await readSource(folderOf(files))

    expect(records).toContainEqual({ kind: 'issue', issue: expect.objectContaining({ number: 3, poster_name: 'mia' }) })
    expect(records).toContainEqual({ kind: 'comment', comment: expect.objectContaining({ poster_name: 'ada' }) })
  })

  test.each([
    ['new', 'open', []],
    ['on hold', 'open', ['status/on hold']],
    ['closed', 'closed', []],
    ['duplicate', 'closed', ['status/duplicate']],
  ])('with the status %s has issues that are %s', async (status, state, labels) => {
    const { issues } = await read({
      issues: issuesWith({ status, kind: null, priority: null, component: null, version: null }),
    })
    expect(new Set(issues.map((issue) => issue.state))).toEqual(new Set([state]))
    expect(issues[0]?.labels).toEqual(labels.map((name) => ({ name })))
    expect(issues.every(({ closed }) => (closed !== undefined) === (state === 'closed'))).toBe(true)
  })

  test('that is not valid in one place is read without it, and the place is named', async () => {
    const issues = issuesWith({}).map((issue: { id: number }) => (issue.id === 3 ? { ...issue, title: null } : issue))
    const outcome = await read({ issues })

    expect(numbersIn(outcome)).toEqual([1, 4, 5])
    expect(outcome.violations).toMatchObject([{ pointer: '/0/issues/2/title', code: 'type', line: 1, offset: 0 }])
    expect(wordsOf(outcome)).toMatchObject({ comments: 2 }) // those of issue 3
    const first = await outcomeOf(JSON.stringify({ ...bitbucketTracker, issues }))
    expect([numbersIn(first), first.total]).toEqual([[1], 1])
  })

  test('has the place of a property that occurs twice, and of half of a surrogate pair', async () => {
    const json = JSON.stringify(bitbucketTracker)
    const twice = json.replace('"title":"Fin is loose"', '"title":"Fin is loose","title":"Fin is loose"')
    const outcome = await readSource({ json: twice })
    expect(outcome.violations).toMatchObject([{ pointer: '/0/issues/2/title', code: 'duplicate_key' }])
    expect(numbersIn(outcome)).toEqual([1, 4, 5])
    const page = JSON.stringify({ issues: [redmineIssue], total_count: 1 })
    const ofPage = await readSource({ json: page.replace('"total_count":1', '"total_count":1,"total_count":1') })
    expect(ofPage.violations).toMatchObject([{ pointer: '/0/total_count', code: 'duplicate_key' }])
    const half = await readSource({ json: json.replace('"name":"Later"', '"name":"\\ud800"') })
    expect(half.violations).toMatchObject([{ pointer: '/0/milestones/1/name', code: 'surrogate' }])
  })

  test.each([
    ['an issue that is no object', { issues: [7] }, '/0/issues/0'],
    ['a status that there is not', { issues: issuesWith({ status: 'lost' }) }, '/0/issues/1/state'],
    ['issues that are no list', { issues: 'none' }, '/0/issues/0'],
    [
      'a comment without an issue',
      { comments: [{ content: 'a', created_on: '2024-01-01T00:00:00Z' }] },
      '/0/comments/0/issue_number',
    ],
    ['a time that is none', { issues: issuesWith({ created_on: 'yesterday' }) }, '/0/issues/1/created'],
  ])('with %s is not valid there', async (_what, changes, pointer) => {
    const { violations } = await read(changes)
    expect(violations.map((violation) => violation.pointer)).toContain(pointer)
  })

  test('whose file is another object is no source', async () => {
    const called = await readSource({ json: '{"issues":[]}' }, { format: 'bitbucket' })
    expect(called.violations).toMatchObject([{ code: 'format', message: expect.stringContaining('logs and meta') }])
    const message = expect.stringMatching(
      /^expected an object with issues, comments, logs and meta, .*: export it again/,
    )
    for (const json of ['{"issues":[]}', '[]', '[[]]', '[7]']) {
      for (const file of ['db-1.0.json', 'db-2.0.json']) {
        const { violations } = await readSource(folderOf({ [file]: json }))
        expect(violations).toEqual([{ code: 'folder', pointer: '', message, file, line: 1, offset: 0 }])
      }
    }
    const both = await readSource(folderOf({ ...FOLDERS.bitbucket, 'db-1.0.json': '[]' }))
    expect(both.violations).toMatchObject([{ code: 'folder', file: 'db-1.0.json' }])
  })
})

describe('Redmine', () => {
  const page = (...issues: readonly object[]) => JSON.stringify({ issues, total_count: 9, offset: 0, limit: 100 })
  const { journals, attachments, ...bare } = redmineIssue

  test.each([
    ['a page', page(bare)],
    ['an issue alone', JSON.stringify({ issue: bare })],
    ['a list of issues', JSON.stringify([bare])],
  ])('is read from %s', async (_what, json) => {
    const outcome = await readSource({ json })
    expect([numbersIn(outcome), outcome.violations]).toEqual([[812], []])
    expect(await readSource({ json: piecesOf(bytesOf(json), 7) })).toEqual(outcome)
  })

  test('is read from files with an issue each, without pages', async () => {
    const files = Object.entries(FOLDERS.redmine).filter(([name]) => name !== 'issues.json')
    const outcome = await readSource(folderOf(Object.fromEntries(files)))
    expect([numbersIn(outcome), outcome.violations]).toEqual([[812, 900], []])
  })

  test('reports the issues that the first page counts, and no page has', async () => {
    const { notCarried } = await readSource({ json: page(bare) + page(bare, bare).replace('"offset":0', '"offset":1') })
    expect(notCarried).toContainEqual({ what: 'issues', count: 6, pointer: '/0/total_count' })
  })

  test('keeps what is private on demand, and still reports it', async () => {
    const outcome = await readSource(folderOf(FOLDERS.redmine), { confidential: 'keep' })
    expect(numbersIn(outcome)).toEqual([813, 900, 812])
    expect(outcome.records.filter(({ kind }) => kind === 'comment')).toHaveLength(2)
    expect(wordsOf(outcome)).toMatchObject({ confidential: 2 })
  })

  test('has the states of an old server by the time of closing', async () => {
    const old = [
      { ...bare, id: 1, status: { id: 1, name: 'Neu' }, closed_on: null },
      { ...bare, id: 2, status: { id: 1, name: 'Weg' } },
    ]
    const { issues } = await readSource({ json: page(...old) })
    expect(issues.map(({ state }) => state)).toEqual(['open', 'closed'])
  })

  test('has an issue that pages repeat once, as it was updated last', async () => {
    const late = { ...bare, subject: 'late', updated_on: '2024-02-01T00:00:00Z' }
    const outcome = await readSource({ json: page(bare) + page(late, { ...bare, id: 5 }) })
    expect(outcome.issues.map(({ title }) => title)).toEqual(['late', 'Fin is loose'])
    expect(wordsOf(outcome)).toMatchObject({ repeated: 1 })
  })

  test('that is not valid in one issue is read without it, and the place is named', async () => {
    const outcome = await readSource({ json: page({ ...bare, created_on: 'soon' }, { ...bare, id: 5 }) })
    expect(numbersIn(outcome)).toEqual([5])
    expect(outcome.violations).toMatchObject([{ pointer: '/0/issues/0/created', code: 'date_time' }])
  })

  // Minutes if each fault is looked for in each issue.
  test('with a fault in each of 50,000 issues has the place of each', async () => {
    const issues = Array.from({ length: 50_000 }, (_, at) => `{"id":${at + 1},"subject":"\\ud800","tracker":{}}`)
    const { violations } = await readSource({ json: `{"issues":[${issues.join()}],"total_count":9}` })
    const pointers = violations.filter(({ code }) => code === 'surrogate').map(({ pointer }) => pointer)
    expect(pointers).toEqual(issues.map((_, at) => `/0/issues/${at}/subject`))
  })
})
