import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderOf, readSource, wordsOf } from '../reading.ts'
import { FOLDERS, giteaDump, giteaIssues, githubComment, githubIssue, gitlabNote, gitlabRestIssue } from './samples.ts'

/** What the folder of each forge becomes, and the words and counts of what is not carried. */
const EXPECTED: { readonly [forge: string]: unknown } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'expected.json'), 'utf8'),
)

describe('what a forge wrote', () => {
  test.each(Object.entries(FOLDERS))('becomes records, and all the rest is named: %s', async (forge, files) => {
    const outcome = await readSource(folderOf(files))

    expect(outcome.violations).toEqual([])
    expect({ records: outcome.records, notCarried: wordsOf(outcome) }).toEqual(EXPECTED[forge])
  })
})

describe('GitHub', () => {
  const pull = { ...githubIssue, number: 8, pull_request: { url: 'https://api.github.example.com/pulls/8' } }
  const other = { ...githubIssue, number: 6, user: null, body: null, comments: 0, milestone: null }
  const comments = [githubComment, { ...githubComment, issue_url: 'https://api.github.example.com/issues/8' }]

  test('a pull request is left out; a deleted user is ghost; a milestone precedes its first issue only', async () => {
    const outcome = await readSource({
      json: JSON.stringify([pull, other, githubIssue, { ...githubIssue, number: 9 }]),
    })

    expect(outcome.records.map(({ kind }) => kind)).toEqual(['issue', 'milestone', 'issue', 'issue'])
    expect(outcome.records[0]).toMatchObject({ issue: { poster_id: 0, poster_name: 'ghost', content: '' } })
    expect(outcome.notCarried).toContainEqual({ what: 'pull_request', count: 1, pointer: '/0' })
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 4, pointer: '/2/comments' })
  })

  test('a milestone that came with an invalid issue precedes the next one', async () => {
    const outcome = await readSource({ json: JSON.stringify([{ ...githubIssue, title: 1 }, githubIssue]) })

    expect(outcome.records.map(({ kind }) => kind)).toEqual(['milestone', 'issue'])
    expect(outcome.violations).toMatchObject([{ pointer: '/0/title', code: 'type' }])
  })

  test('comments of a second file follow the issues, but for those of pull requests', async () => {
    const source = folderOf({
      'issues.json': JSON.stringify([pull, githubIssue]),
      'comments.json': JSON.stringify(comments),
    })
    const outcome = await readSource(source)

    expect(outcome.records.map(({ kind }) => kind)).toEqual(['milestone', 'issue', 'comment'])
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 1, pointer: '/1', file: 'comments.json' })
  })

  test('a comment that is folded away is left out unless it is kept, and reported in any case', async () => {
    const source = folderOf({
      'issues.json': JSON.stringify([githubIssue]),
      'comments.json': JSON.stringify([githubComment, { ...githubComment, minimized: { reason: null } }]),
    })
    const report = { what: 'minimized', count: 1, pointer: '/1/minimized', file: 'comments.json' }
    for (const [minimized, count] of [
      ['leave-out', 1],
      ['keep', 2],
    ] as const) {
      const { records, notCarried } = await readSource(source, { minimized })
      expect(records.filter(({ kind }) => kind === 'comment')).toHaveLength(count)
      expect(notCarried).toContainEqual(report)
    }
  })

  test('one name with two colors is one label, and the other is reported', async () => {
    const labels = [{ name: 'bug', color: '000000', description: null }]
    const outcome = await readSource({ json: JSON.stringify([githubIssue, { ...githubIssue, number: 8, labels }]) })

    expect(outcome.records[2]).toMatchObject({ issue: { labels: [{ name: 'bug', color: 'd73a4a' }] } })
    expect(outcome.notCarried).toContainEqual({ what: 'label_variant', count: 1, pointer: '/1/labels/0' })
  })
})

describe('GitLab', () => {
  test('a confidential issue is kept on demand, and still reported', async () => {
    const outcome = await readSource(folderOf(FOLDERS.gitlab), { confidential: 'keep' })

    expect(outcome.records.filter(({ kind }) => kind === 'issue')).toHaveLength(2)
    expect(outcome.notCarried).toContainEqual({
      what: 'confidential',
      count: 1,
      pointer: '/1',
      file: 'tree/project/issues.ndjson',
    })
  })
})

describe('an export of GitLab with lists without records', () => {
  const PROJECT = 'tree/project/'
  const without = (list: string) =>
    Object.fromEntries(Object.entries(FOLDERS.gitlab).filter(([name]) => name !== `${PROJECT}${list}`))
  const kindsIn = async (files: Parameters<typeof folderOf>[0]) => {
    const { records, violations } = await readSource(folderOf(files))
    return { kinds: records.map(({ kind }) => kind), violations }
  }

  test.each(['issues.ndjson', 'labels.ndjson', 'milestones.ndjson', 'project_members.ndjson'])(
    'is read if %s is empty, as if it were missing',
    async (list) => {
      const missing = await kindsIn(without(list))
      expect(missing.violations).toEqual([])
      expect(missing.kinds.includes('issue')).toBe(list !== 'issues.ndjson')
      for (const nothing of ['', '\n', '\r\n', ' \n\n', '\ufeff', '[]']) {
        expect(await kindsIn({ ...FOLDERS.gitlab, [`${PROJECT}${list}`]: nothing })).toEqual(missing)
      }
    },
  )

  test('is read with every list empty, or with none', async () => {
    const empty = Object.fromEntries(Object.keys(FOLDERS.gitlab).map((name) => [name, '']))
    const nothing = { kinds: [], violations: [] }
    expect(await kindsIn({ ...empty, 'tree/project.json': '{}' })).toEqual(nothing)
    expect(await kindsIn({ 'a/VERSION': '0.2.4', 'a/tree/project.json': '{}' })).toEqual(nothing)
  })

  test('is refused if it ends within a record', async () => {
    const { violations } = await kindsIn({ ...FOLDERS.gitlab, [`${PROJECT}labels.ndjson`]: '{"title":' })
    expect(violations).toMatchObject([{ code: 'truncated', file: `${PROJECT}labels.ndjson` }])
  })
})

describe('the REST lists of GitLab', () => {
  const read = (notes: readonly unknown[], issues: readonly unknown[] = [gitlabRestIssue]) =>
    readSource(folderOf({ 'issues.json': JSON.stringify(issues), 'notes.json': JSON.stringify(notes) }))

  test('leave out what is confidential, and notes of anything else', async () => {
    const secret = { ...gitlabRestIssue, iid: 8, confidential: true }
    const outcome = await read(
      [
        { ...gitlabNote, internal: true },
        { ...gitlabNote, noteable_iid: 8 },
        { ...gitlabNote, noteable_type: 'MergeRequest' },
        { ...gitlabNote, system: true },
      ],
      [gitlabRestIssue, secret],
    )

    expect(outcome.records.map(({ kind }) => kind)).toEqual(['milestone', 'issue'])
    expect(outcome.notCarried).toContainEqual({ what: 'confidential', count: 2, pointer: '/1', file: 'issues.json' })
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 2, pointer: '/1', file: 'notes.json' })
    expect(outcome.notCarried).toContainEqual({ what: 'system_note', count: 1, pointer: '/3', file: 'notes.json' })
  })

  test('count the notes of a list without them, and have ghosts', async () => {
    const outcome = await readSource({ json: JSON.stringify([{ ...gitlabRestIssue, author: null, labels: null }]) })

    expect(outcome.records[1]).toMatchObject({ issue: { poster_id: 0, poster_name: 'ghost', labels: [] } })
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 1, pointer: '/0/user_notes_count' })
  })
})

describe('Gitea', () => {
  test('the original author of an imported issue is its author', async () => {
    const imported = { ...giteaIssues[1], original_author: 'ada', original_author_id: 44 }
    const outcome = await readSource({ json: JSON.stringify([imported]) })

    expect(outcome.records).toMatchObject([{ issue: { poster_id: 44, poster_name: 'ada' } }])
    expect(outcome.notCarried).toContainEqual({ what: 'imported_by', count: 1, pointer: '/0/user' })
  })

  test('the projects of an issue are named', async () => {
    const projects = [{ id: 1, title: 'Roadmap' }]
    const outcome = await readSource({ json: JSON.stringify([{ ...giteaIssues[1], projects }]) })

    expect(outcome.notCarried).toContainEqual({ what: 'projects', count: 1, pointer: '/0/projects' })
  })
})

describe('a folder', () => {
  test.each([
    ['that no forge wrote', { 'readme.md': '' }, {}],
    ['with issues of no forge', { 'issues.json': '[{"number":1}]' }, {}],
    ['with two dumps', { 'a/issue.yml': '[]', 'b/issue.yml': '[]' }, {}],
    ['with two exports', { 'a/tree/project.json': '{}', 'b/tree/project.json': '{}' }, {}],
    ['of an old export, whose issues are in one file', { 'project.json': '{}', VERSION: '0.2.4' }, {}],
    ['of another form than the option says', giteaDump, { format: 'gitlab' as const }],
  ])('%s is not valid', async (_title, files, options) => {
    const { violations } = await readSource(folderOf(files), options)
    expect(violations).toMatchObject([{ code: 'folder', pointer: '' }])
  })

  test('with empty lists has no records', async () => {
    const outcome = await readSource(folderOf({ 'issues.json': '[]', 'comments.json': '[]' }))
    expect(outcome).toMatchObject({ records: [], notCarried: [], violations: [] })
  })

  test.each(['issues.json', 'comments.json', 'notes.json'])('with an empty %s was not fetched', async (file) => {
    const list = JSON.stringify([file === 'notes.json' ? gitlabRestIssue : githubIssue])
    const { violations } = await readSource(folderOf({ 'issues.json': list, [file]: '' }))
    expect(violations).toMatchObject([{ code: 'truncated', file }])
  })

  test('reports the file of a violation', async () => {
    const files = { ...giteaDump, 'comments/8.yml': '- issue_index: x\n' }
    const { violations } = await readSource(folderOf(files))
    expect(violations[0]).toMatchObject({ file: 'comments/8.yml', pointer: '/0/issue_number', line: 1, offset: 0 })
  })
})
