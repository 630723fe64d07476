// What people give first: what gh prints, lists of Gogs and GitBucket, and what is not read.
import { describe, expect, test } from 'vitest'
import { bytesOf, folderOf, outcomeOf, piecesOf, readSource, wordsOf } from '../reading.ts'
import { ghIssues, giteaIssues, githubIssue, gitlabRestIssue } from './samples.ts'

const utf16 = (text: string): Uint8Array => Buffer.from(`\ufeff${text}`, 'utf16le')

describe('what gh issue list --json prints', () => {
  const read = (...issues: readonly object[]) => readSource({ json: JSON.stringify(issues) })
  const [, issue] = ghIssues
  const refused = (records: readonly object[]) => read(...records).then(({ violations }) => violations)

  test('is the same in UTF-16, as Windows PowerShell writes it', async () => {
    const text = `${JSON.stringify(ghIssues)}\r\n`
    const outcome = await readSource({ json: text })
    expect([outcome.records.length, outcome.violations]).toEqual([4, []])
    expect(await readSource({ json: utf16(text) })).toEqual(outcome)
    expect(await readSource({ json: piecesOf(utf16(text), 3) })).toEqual(outcome)
  })

  test.each([
    [['number', 'title', 'state'], 'author,body,createdAt,updatedAt'],
    [['number', 'title', 'updatedAt', 'author', 'comments'], 'state,body,createdAt'],
    [['number', 'title', 'state', 'author', 'createdAt', 'updatedAt'], 'body'],
    [['state', 'title'], 'number,author,body,createdAt,updatedAt'],
  ])('is refused once with the fields %j, and the missing ones are named', async (fields, missing) => {
    const few = ghIssues.map((each) => Object.fromEntries(fields.map((field) => [field, each[field]])))
    const message = `expected more fields: add ${missing} to those of gh issue list --json`
    expect(await refused(few)).toEqual([{ pointer: '', code: 'format', message, offset: 0, line: 1 }])
  })

  test.each([
    ['app/helper', 'helper[bot]'],
    ['app/', 'ghost'],
    ['', 'ghost'],
    ['apple', 'apple'],
  ])('has %j as %s', async (login, name) => {
    const outcome = await read({ ...issue, author: { login } })
    expect(outcome.issues[0]).toMatchObject({ poster_id: 0, poster_name: name })
  })

  test('keeps a comment that is folded away on demand', async () => {
    const { records, notCarried } = await readSource({ json: JSON.stringify([issue]) }, { minimized: 'keep' })
    expect(records.filter(({ kind }) => kind === 'comment')).toHaveLength(2)
    expect(notCarried).toContainEqual({ what: 'minimized', count: 1, pointer: '/0/comments/1/minimized' })
  })

  test('may lack what follows the hundredth comment, which is reported', async () => {
    const [comment] = [issue?.['comments']].flat()
    const reported = async (count: number) =>
      (await readSource({ json: JSON.stringify([{ ...issue, comments: Array(count).fill(comment) }]) })).notCarried

    expect(await reported(100)).toContainEqual({ what: 'comments', count: 1, pointer: '/0/comments' })
    for (const count of [99, 101]) expect((await reported(count)).map(({ what }) => what)).not.toContain('comments')
  })
})

describe('lists of Gogs and GitBucket', () => {
  const { is_locked: _, assignees: __, assets: ___, ...bare } = giteaIssues[1] ?? {}
  const comment = {
    id: 77,
    user: { id: 3, login: 'mia' },
    body: 'b',
    created_at: bare['created_at'],
    updated_at: bare['created_at'],
  }
  test.each([
    ['issuecomment', '9999-12-31T00:00:00Z'],
    ['comment', '9999-01-01T00:00:00Z'],
  ])(
    'are recognized, and their comments have the number of the page: %s, and milestones no date: %s',
    async (anchor, due_on) => {
      const milestone = { id: 1, title: 'v1', state: 'open', due_on }
      const at = (path: string) => ({
        ...comment,
        html_url: `https://git.example.com/acme/rocket/${path}#${anchor}-77`,
      })
      const issues = [
        { ...bare, number: 2, assignee: { login: 'mia' }, milestone },
        { ...bare, number: 3, pull_request: { merged: false, merged_at: null } },
      ]
      const comments = [at('issues/2'), at('pull/3'), at('pull/4'), at('issues/9')]
      const outcome = await readSource(
        folderOf({ 'issues.json': JSON.stringify(issues), 'comments.json': JSON.stringify(comments) }),
      )

      expect(outcome.violations).toEqual([])
      expect(outcome.issues).toMatchObject([{ number: 2, is_locked: false, assignees: ['mia'], milestone: 'v1' }])
      expect(outcome.records).toContainEqual({ kind: 'milestone', milestone: { title: 'v1', state: 'open' } })
      expect(
        outcome.records.flatMap((record) => (record.kind === 'comment' ? [record.comment.issue_number] : [])),
      ).toEqual([2])
      expect(wordsOf(outcome)).toMatchObject({ pull_request: 1, pull_request_comments: 2, comments: 1 })
    },
  )
})

describe('an error of a forge in place of a page', () => {
  const pages = `[${JSON.stringify(githubIssue)}]\n{"message":"API rate limit exceeded","documentation_url":"x"}`
  const violation = {
    pointer: '',
    code: 'format',
    message: expect.stringMatching(/"API rate limit exceeded" of a forge/),
  }

  test.each([
    ['a list', { 'issues.json': pages }, 'issues.json'],
    [
      'the comments',
      { 'issues.json': JSON.stringify([githubIssue]), 'comments.json': '{"message":"API rate limit exceeded"}' },
      'comments.json',
    ],
  ])('ends %s', async (_list, files, file) => {
    const { violations, issues } = await readSource(folderOf(files))
    expect(violations).toEqual([expect.objectContaining({ ...violation, file, line: file === 'issues.json' ? 2 : 1 })])
    expect(issues).toHaveLength(1)
  })
})

describe('a list of pull requests, which looks like one of issues', () => {
  const branches = { head: { ref: 'fin' }, base: { ref: 'main' } }
  test.each<[string, object]>([
    ['GitHub', { ...githubIssue, ...branches, merged_at: null, draft: false }],
    ['Gitea', { ...giteaIssues[1], pull_request: undefined, ...branches, merged: false }],
    ['gh', { ...ghIssues[1], headRefName: 'fin' }],
    ['gh, which were merged', { ...ghIssues[1], state: 'MERGED', mergedAt: '2024-03-01T10:00:00Z' }],
    ['GitLab', { ...gitlabRestIssue, source_branch: 'fin', target_branch: 'main' }],
  ])('has no issues: %s', async (_forge, pull) => {
    const outcome = await readSource({ json: JSON.stringify([pull]) })
    expect([outcome.records, outcome.violations]).toEqual([[], []])
    expect(wordsOf(outcome)).toEqual({ pull_request: 1 })
  })
})

describe('what is not read', () => {
  const jira = { id: '1', key: 'ROC-12', fields: { summary: 'a', created: '2024-05-22T14:21:25.350+0100' } }

  test.each<[string, unknown, RegExp]>([
    ['an issue of Jira', [jira, jira], /not issues of Jira: write its issues as an issue document/],
    ['a page of Jira', { expand: 'names', startAt: 0, total: 2, issues: [jira, jira] }, /not issues of Jira/],
    ['an export of Jira', { projects: [{ name: 'Rocket', issues: [{}] }] }, /not an export of Jira/],
    [
      'a page of GraphQL',
      { data: { repository: { issues: { nodes: [{ number: 1 }] } } } },
      /not an answer of GraphQL: .*gh issue/,
    ],
    [
      'a report of Fossil',
      { fossil: 'a', timestamp: 1, payload: { columns: [], tickets: [] } },
      /not a report of Fossil/,
    ],
    [
      'an error of GitHub',
      { message: 'Bad credentials', documentation_url: 'x', status: '401' },
      /error.*"Bad credentials"/,
    ],
    ['an error of GitLab', { message: '404 Project Not Found' }, /error.*"404 Project Not Found"/],
    [
      'an error of OAuth',
      { error: 'invalid_token', error_description: 'Token was revoked.' },
      /error.*"invalid_token"/,
    ],
    ['a search of GitHub', { total_count: 1, incomplete_results: false, items: [{ number: 1 }] }, /not a search of/],
    ['a page of Bitbucket', { pagelen: 20, values: [{ type: 'issue', id: 1 }], page: 1 }, /export the tracker/],
    [
      'an issue of YouTrack',
      { idReadable: 'ROC-1', summary: 'a', created: 1 },
      /with idReadable, summary, created: write/,
    ],
    ['what Bugzilla answers', { bugs: [{ id: 1, summary: 'a' }] }, /not records with bugs: write its issues as/],
  ])('%s is named once, with what to do', async (_what, value, message) => {
    const json = JSON.stringify(value)
    const violation = { pointer: '', code: 'format', message: expect.stringMatching(message), offset: 0, line: 1 }
    expect((await outcomeOf(json)).violations).toEqual([violation])
    const inFolder = await readSource(folderOf({ 'issues.json': json }))
    expect(inFolder.violations).toEqual([{ ...violation, file: 'issues.json' }])
  })

  test.each([
    ['<!DOCTYPE html>\n<html lang="en"><head>', /not a web page, perhaps one to sign in: fetch/],
    ['\n<html>', /not a web page/],
    ['<?xml version="1.0"?>\n<rss version="0.92">', /not XML, such as that of Jira: write/],
    ['<launchpad-bugs xmlns="x">', /not XML/],
    ['HTTP/2.0 200 OK\r\nserver: GitHub.com\r\n\r\n[]', /not the headers of an answer: .* without -i/],
    ['ID,Team,Title,Description\n"ROC-1","Rocket","Fin","a"\n', /not a table, such as CSV: write its issues/],
    ['"bug_id";"product";"summary"\n', /not a table/],
    ['Summary,Issue key,Issue id,Issue Type\nFin,ROC-1,10001,Bug\n', /not the CSV of Jira/],
    ['\ufeff"Issue Type","Issue key","Summary"\n', /not the CSV of Jira/],
    ['Title,Description,Issue ID,URL,State\n', /not the CSV of GitLab, which has no comments: export the project/],
    ['Issue ID,URL,Title,State\n', /not the CSV of GitLab/],
    ['id,Summary,Status,Owner\n1,Fin,new,mia\n', /not a report of Trac/],
    ['\ufeffid\tsummary\tstatus\n', /not a report of Trac/],
    ['#\tmtime\ttype\tstatus\n', /not a report of Fossil/],
    ['SQLite format 3\0', /not a database of SQLite, such as that of Trac or Fossil/],
  ])('a text that begins with %j is named once, with what to do', async (text, message) => {
    const violation = { pointer: '', code: 'json', message: expect.stringMatching(message) }
    for (const json of [text, bytesOf(text), utf16(text.replace('\ufeff', ''))]) {
      expect((await outcomeOf(json)).violations).toEqual([expect.objectContaining(violation)])
    }
    const inFolder = await readSource(folderOf({ 'issues.json': text }))
    expect(inFolder.violations).toEqual([expect.objectContaining({ ...violation, file: 'issues.json', line: 1 })])
  })

  test.each([
    ['BZh91AY&SY', /not what bzip2 compressed: unpack it with bunzip2, and give what was in it$/],
    ['\xfd7zXZ\0\0', /unpack it with unxz/],
    ['(\xb5/\xfd', /unpack it with unzstd/],
    ["7z\xbc\xaf'\x1c", /unpack it with 7z x/],
    ['Rar!\x1a\x07', /unpack it with unrar x/],
    ['PK\x03\x04\x14\0issues,1,2,3', /a zip, which is read from a file alone: unpack it with unzip/],
    [`a,b,c.json${'\0'.repeat(247)}ustar  `, /a tar, which is read from a file alone: unpack it with tar -x/],
  ])('bytes that begin with %j are named once, with what to do', async (text, message) => {
    const { violations } = await readSource({ json: Buffer.from(text, 'latin1') })
    expect(violations).toMatchObject([{ pointer: '', code: 'json', message: expect.stringMatching(message) }])
  })

  test.each(['[{"title":"Issue key"},', '{"a":"<html>"} <html>'])(
    '%j is not taken for something else',
    async (json) => {
      const violations = (await readSource({ json })).violations.map(({ message }) => message)
      expect(violations.join()).not.toMatch(/Jira|web page/)
    },
  )

  test('a document with such properties is read if it is called one', async () => {
    const { violations } = await outcomeOf('[{"number":1,"state":"OPEN"}]', { format: 'document' })
    expect(violations.map(({ code }) => code)).toContain('required')
  })
})
