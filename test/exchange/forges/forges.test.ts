import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ExchangeRecord } from '../../../src/exchange/exchange.ts'
import { canonical, folderOf, readSource, wordsOf } from '../reading.ts'
import type { Files } from './samples.ts'
import {
  FOLDERS,
  giteaDump,
  giteaIssues,
  githubComment,
  githubIssue,
  gitlabNote,
  gitlabRestIssue,
  optionsOf,
} from './samples.ts'

/** What the folder of each forge becomes, and the words and counts of what is not carried. */
const EXPECTED: { readonly [forge: string]: { records: ExchangeRecord[]; notCarried: object } } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'expected.json'), 'utf8'),
)

describe('what a forge wrote', () => {
  test.each(Object.entries(FOLDERS))('becomes records, and all the rest is named: %s', async (forge, files) => {
    const outcome = await readSource(folderOf(files), optionsOf(forge))

    expect(outcome.violations).toEqual([])
    expect(outcome.records.map(canonical)).toEqual(EXPECTED[forge]?.records.map(canonical))
    expect(wordsOf(outcome)).toEqual(EXPECTED[forge]?.notCarried)
  })
})

const TIMES = { created_at: '2024-02-29T08:30:00Z', updated_at: '2024-02-29T08:30:00Z' }

describe('GitHub', () => {
  const bare = { number: 7, title: 'a', state: 'open', user: { id: 3, login: 'mia' }, locked: false, ...TIMES }
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
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 2, pointer: '/2/comments' })
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
    const what = 'pull_request_comments'
    expect(outcome.notCarried).toContainEqual({ what, count: 1, pointer: '/1', file: 'comments.json' })
  })

  test('comments of pull requests have a word of their own, and others that have no issue another one', async () => {
    const address = 'https://api.github.example.com/issues/'
    const [html_url, pull_request_url] = ['https://github.example.com/acme/rocket/pull/5#issuecomment-1', 'x']
    const source = folderOf({
      'issues.json': JSON.stringify([pull, { ...githubIssue, comments: 0 }]),
      'comments.json': JSON.stringify([
        { ...githubComment, issue_url: `${address}8` }, // its pull request is in the list
        { ...githubComment, issue_url: `${address}5`, html_url },
        { ...githubComment, issue_url: `${address}6`, pull_request_url },
        { ...githubComment, issue_url: `${address}9` },
      ]),
    })
    expect(wordsOf(await readSource(source))).toMatchObject({ pull_request_comments: 3, comments: 1 })
  })

  test('comments that the issues count and their list does not have are reported', async () => {
    const issues = [
      { ...githubIssue, comments: 3 },
      { ...githubIssue, number: 8, comments: 30 },
    ]
    const source = folderOf({
      'issues.json': JSON.stringify(issues),
      'comments.json': JSON.stringify([githubComment, { ...githubComment, minimized: { reason: null } }]),
    })
    const report = { what: 'comments', count: 31, pointer: '/0/comments', file: 'issues.json' }
    expect((await readSource(source)).notCarried).toContainEqual(report)
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

  test('an address that alone says of a relation is reported, and that GitHub made a label is not', async () => {
    const sub_issues = [{ id: 1 }, { id: 2 }]
    const labels = [{ name: 'bug', color: 'd73a4a', default: true }]
    const outcome = await readSource({
      json: JSON.stringify([{ ...bare, parent_issue_url: 'x/9', sub_issues, labels }]),
    })

    expect(wordsOf(outcome)).toEqual({ parent: 1, sub_issues: 2 })
    expect(outcome.notCarried[0]).toEqual({ what: 'parent', count: 1, pointer: '/0/parent_issue_url' })
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

describe('what an export of GitLab says beside its records', () => {
  const bare = { iid: 7, author_id: 3, title: 'a', state: 'opened', ...TIMES }
  const member = { user: { id: 3, username: 'mia' } }
  const read = (issue: object, members: readonly object[] = [member]) =>
    readSource(
      folderOf({
        'issues.ndjson': JSON.stringify(issue),
        'project_members.ndjson': members.map((each) => JSON.stringify(each)).join('\n'),
      }),
    )

  test.each<[string, object, object]>([
    ['an issue that is an issue', { work_item_type: { base_type: 'issue' }, issue_type: 'issue' }, {}],
    ['another kind of issue', { work_item_type: { base_type: 'task' } }, { work_item_type: 1 }],
    ['what is derived', { task_completion_status: { count: 2, completed_count: 1 }, task_status: '1 of 2' }, {}],
    ['a link', { label_links: [{ ...TIMES, label: { title: 'a', textColor: '#fff', ...TIMES } }] }, {}],
    ['an assignee', { issue_assignees: [{ user_id: 3, ...TIMES }] }, {}],
    ['an epic by its number', { epic_iid: 4 }, { epic_iid: 1 }],
    ['an epic that is there too', { epic_iid: 4, epic_id: 5, epic: { title: 'a' } }, { epic: 1 }],
    ['an epic that it became', { promoted_to_epic_id: 4, epic: { title: 'a' } }, { promoted_to_epic_id: 1, epic: 1 }],
    ['a parent', { parent_id: 4 }, { parent: 1 }],
    ['what it blocks', { blocking_issues_count: 2 }, { blocking_issues_count: 1 }],
    ['where it was moved', { moved_to_id: 4, duplicated_to_id: 5 }, { moved_to_id: 1, duplicated_to_id: 1 }],
    ['what it duplicates', { _links: { self: 'x/7', closed_as_duplicate_of: 'x/8' } }, { duplicate_of: 1 }],
    [
      'ids and addresses',
      { project_id: 4, _links: { self: 'x/7' }, milestone_id: 5, web_url: 'x', lock_version: 3 },
      {},
    ],
  ])('%s', async (_, given, words) => {
    const outcome = await read({ ...bare, ...given })
    expect([outcome.violations, wordsOf(outcome)]).toEqual([[], words])
  })

  test('which comments answer another one', async () => {
    const note = { note: 'b', author_id: 3, system: false, ...TIMES }
    const notes = ['1', '2', '1', '1', '3'].map((discussion_id) => ({ ...note, discussion_id }))
    const outcome = await read({ ...bare, notes: [{ ...note, discussion_id: '2', system: true }, ...notes] })
    expect(wordsOf(outcome)).toEqual({ system_note: 1, thread: 2 })
    const list = [7, 7, 8, 8].map((noteable_iid) => ({ ...gitlabNote, noteable_iid, discussion_id: 'a' }))
    const issues = [7, 8].map((iid) => ({ ...gitlabRestIssue, iid }))
    const files = { 'issues.json': JSON.stringify(issues), 'notes.json': JSON.stringify(list) }
    expect(wordsOf(await readSource(folderOf(files)))).toMatchObject({ thread: 2 })
  })

  test('nothing of a member but a missing name', async () => {
    const details = {
      access_level: 40,
      source_type: 'Project',
      notification_level: 3,
      expires_at: '2030-01-01',
      ...TIMES,
    }
    const invited = { invite_email: 'mia@example.com', user: null, ...details }
    expect(wordsOf(await read(bare, [{ ...member, ...details }, invited]))).toEqual({})
    const outcome = await read(bare, [{ user: { id: 3 } }])
    expect([outcome.issues[0]?.poster_name, wordsOf(outcome)]).toEqual(['user-3', { user_name: 2 }])
  })

  test('the displayed names of those whom it names by an id alone', async () => {
    const notes = [
      { author_id: 62, author: { name: 'Mia Moreau' } },
      { author_id: 3, author: { name: 'A member' } },
      { author_id: 70, author: { name: 'Only changed a label' }, system: true },
      { author_id: 63, author: { name: 'Ada' }, system: true },
      { author_id: 64, author: {} },
      { author_id: null, author: { name: 'Ghost' } },
    ].map((note) => ({ note: 'b', ...TIMES, ...note }))
    const { notCarried } = await read({ ...bare, author_id: 63, notes })

    expect(notCarried.find(({ what }) => what === 'user_name')).toMatchObject({
      count: 4,
      people: [
        { name: 'user-63', displayed: 'Ada' },
        { name: 'user-62', displayed: 'Mia Moreau' },
      ],
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
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 1, pointer: '/1', file: 'notes.json' })
    const what = 'pull_request_comments'
    expect(outcome.notCarried).toContainEqual({ what, count: 1, pointer: '/2', file: 'notes.json' })
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

  test('with the issues of several repositories is refused with their names', async () => {
    const issue = JSON.stringify({ ...githubIssue, comment_data: [] })
    const files = {
      'all/fin/issues/1.json': issue,
      'all/rocket/issues/1.json': issue,
      'all/rocket/old/issue.yml': '[]',
    }
    const { violations } = await readSource(folderOf(files))
    const message = 'expected the issues of one repository: give one of the folders all/fin/, all/rocket/'
    expect(violations).toEqual([{ pointer: '', code: 'folder', message }])
  })

  const older = { 'issues.json': JSON.stringify([{ ...githubIssue, number: 99 }]) }
  const below = (folder: string, files: Files): Files =>
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))

  test.each(Object.entries(FOLDERS))('%s is read without older ones that are deeper in it', async (forge, files) => {
    const expected = await readSource(folderOf(below('acme', files)), optionsOf(forge))
    for (const [name, deeper] of [...Object.entries(FOLDERS), ['github', older] as const]) {
      const both = { ...below('acme/tree/backup/old', deeper), ...below('acme', files) }
      const { records, violations } = await readSource(folderOf(both), optionsOf(forge))
      expect([name, violations, records]).toEqual([name, expected.violations, expected.records])
    }
  })

  // An hour if each character is looked at from each one before it.
  test('may have addresses that are a million characters without an end', async () => {
    const html_url = `${'/1#'.repeat(400_000)}\n`
    const comments = [githubComment, { ...githubComment, html_url, issue_url: undefined }]
    const files = { 'issues.json': JSON.stringify([githubIssue]), 'comments.json': JSON.stringify(comments) }
    expect(wordsOf(await readSource(folderOf(files)))).toMatchObject({ comments: 1 })

    const archive = { ...FOLDERS['github-archive'] }
    const [name = ''] = Object.keys(archive).filter((file) => file.includes('issues_'))
    const long = 'u'.repeat(1_000_000)
    const issues = JSON.parse(archive[name] ?? '').map((issue: object) => ({ ...issue, user: long }))
    const { violations, ...read } = await readSource(
      folderOf({ ...archive, [name]: JSON.stringify(issues) }),
      optionsOf('github-archive'),
    )
    expect(violations).toEqual([])
    expect(read.issues[0]?.poster_name === long).toBe(true)
  })

  test('in each of 200,000 folders is one of several', async () => {
    const list = () => Array.from({ length: 200_000 }, (_, at) => `${at}/issues.json`)
    const { violations } = await readSource({ folder: { list, open: () => '[]' } })
    expect(violations).toMatchObject([{ code: 'folder' }])
  })

  test('of a backup may have files that are no records beside these', async () => {
    const beside = ['issues/._1.json', 'milestones/._1.json', 'milestones/.DS_Store', 'pulls/.DS_Store']
    const files = { ...FOLDERS['github-backup'], ...Object.fromEntries(beside.map((name) => [name, '\0\x05'])) }
    const { records, violations } = await readSource(folderOf(files))
    expect(violations).toEqual([])
    expect(records).toEqual((await readSource(folderOf(FOLDERS['github-backup']))).records)
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
