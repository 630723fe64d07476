import { describe, expect, test } from 'vitest'
import { canonicalIssue } from '../../../src/exchange/exchange.ts'
import { folderOf, readSource, wordsOf } from '../source.ts'
import {
  giteaComment,
  giteaDump,
  giteaIssues,
  githubComment,
  githubIssue,
  gitlabIssue,
  gitlabMembers,
  gitlabNote,
  gitlabRestIssue,
} from './samples.ts'

const lines = (records: readonly unknown[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('')

const milestone = {
  title: 'First flight',
  description: 'To the moon',
  created: '2024-01-01T00:00:00Z',
  updated: '2024-01-02T00:00:00Z',
  state: 'open',
}

describe('GitHub', () => {
  const pull = { ...githubIssue, number: 8, pull_request: { url: 'https://api.github.example.com/pulls/8' } }
  const other = { ...githubIssue, number: 6, user: null, body: null, comments: 0, milestone: null }
  const comments = [githubComment, { ...githubComment, issue_url: 'https://api.github.example.com/issues/8' }]

  test('issues become records, and all the rest is named', async () => {
    const outcome = await readSource({ json: JSON.stringify([githubIssue]) })

    expect(outcome.violations).toEqual([])
    expect(outcome.records).toEqual([
      { kind: 'milestone', milestone: { ...milestone, deadline: '2024-12-24T08:00:00Z' } },
      {
        kind: 'issue',
        issue: {
          number: 7,
          poster_id: 3,
          poster_name: 'mia',
          title: githubIssue['title'],
          content: githubIssue['body'],
          milestone: 'First flight',
          state: 'closed',
          is_locked: true,
          created: '2024-02-29T08:30:00Z',
          updated: '2024-03-01T10:00:00Z',
          closed: '2024-03-01T10:00:00Z',
          labels: [{ name: 'bug', color: 'd73a4a' }, { name: 'urgent' }],
          assignees: ['ada', 'wim'],
        },
      },
    ])
    expect(wordsOf(outcome)).toEqual({
      active_lock_reason: 1,
      attachment: 1,
      author_association: 1,
      closed_by: 1,
      comments: 2,
      creator: 1,
      default: 1,
      reactions: 3,
      state_reason: 1,
    })
  })

  test('a pull request is left out; a deleted user is ghost; a milestone precedes its first issue only', async () => {
    const outcome = await readSource({ json: JSON.stringify([pull, other, githubIssue, githubIssue]) })

    expect(outcome.records.map(({ kind }) => kind)).toEqual(['issue', 'milestone', 'issue', 'issue'])
    expect(outcome.records[0]).toMatchObject({ issue: { poster_id: 0, poster_name: 'ghost', content: '' } })
    expect(outcome.notCarried).toContainEqual({ what: 'pull_request', count: 1, pointer: '/0' })
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
    expect(outcome.records[2]).toEqual({
      kind: 'comment',
      comment: {
        issue_number: 7,
        poster_id: 0,
        poster_name: 'ghost',
        created: '2024-02-29T09:00:00Z',
        updated: '2024-02-29T09:00:00Z',
        content: 'Four was tired.',
      },
    })
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
    const outcome = await readSource({ json: JSON.stringify([githubIssue, { ...githubIssue, labels }]) })

    expect(outcome.records[2]).toMatchObject({ issue: { labels: [{ name: 'bug', color: 'd73a4a' }] } })
    expect(outcome.notCarried).toContainEqual({ what: 'label_variant', count: 1, pointer: '/1/labels/0' })
  })
})

describe('GitLab', () => {
  const secret = { ...gitlabIssue, iid: 8, confidential: true }
  const files = {
    'tree/project.json': '{}',
    'tree/project/issues.ndjson': lines([gitlabIssue, secret]),
    'tree/project/labels.ndjson': lines([{ id: 10, title: 'unused', color: '#000000' }]),
    'tree/project/milestones.ndjson': lines([gitlabIssue['milestone']]),
    'tree/project/merge_requests.ndjson': lines([{}]),
    'tree/project/project_members.ndjson': lines(gitlabMembers),
  }

  test('an export becomes records with the names of its members', async () => {
    const outcome = await readSource(folderOf(files))

    expect(outcome.violations).toEqual([])
    expect(outcome.records).toEqual([
      { kind: 'label', label: { name: 'unused', color: '000000' } },
      {
        kind: 'milestone',
        milestone: {
          ...milestone,
          created: '2024-01-01T00:00:00.000Z',
          updated: '2024-01-02T00:00:00.000Z',
          deadline: '2024-12-24T00:00:00Z',
        },
      },
      {
        kind: 'issue',
        issue: {
          number: 7,
          poster_id: 3,
          poster_name: 'mia',
          poster_email: 'mia@example.com',
          title: gitlabIssue['title'],
          content: gitlabIssue['description'],
          milestone: 'First flight',
          state: 'closed',
          is_locked: false,
          created: '2024-02-29T08:30:00.250Z',
          updated: '2024-03-01T10:00:00.000Z',
          closed: '2024-03-01T10:00:00.000Z',
          labels: [{ name: 'bug', color: 'd73a4a' }],
          reactions: [{ user_id: 4, user_name: 'ada', content: '+1' }],
          assignees: ['ada'],
        },
      },
      {
        kind: 'comment',
        comment: {
          issue_number: 7,
          poster_id: 99,
          poster_name: 'user-99',
          created: '2024-02-29T09:00:00.000Z',
          updated: '2024-02-29T09:00:00.000Z',
          content: 'Four was tired.',
          reactions: [{ user_id: 3, user_name: 'mia', content: 'rocket' }],
        },
      },
    ])
    expect(wordsOf(outcome)).toEqual({
      access_level: 2,
      attachment: 1,
      closed_by_id: 1,
      confidential: 1,
      due_date: 1,
      file: 1,
      pull_request: 1,
      relative_position: 1,
      start_date: 2,
      system_note: 1,
      time_estimate: 1,
      timelogs: 1,
      user_name: 1,
    })
  })

  test('a confidential issue is kept on demand, and still reported', async () => {
    const outcome = await readSource(folderOf(files), { confidential: 'keep' })

    expect(outcome.records.filter(({ kind }) => kind === 'issue')).toHaveLength(2)
    expect(outcome.notCarried).toContainEqual({
      what: 'confidential',
      count: 1,
      pointer: '/1',
      file: 'tree/project/issues.ndjson',
    })
  })
})

describe('the REST lists of GitLab', () => {
  const read = (notes: readonly unknown[], issues: readonly unknown[] = [gitlabRestIssue]) =>
    readSource(folderOf({ 'issues.json': JSON.stringify(issues), 'notes.json': JSON.stringify(notes) }))

  test('give what the project export gives, but for what is named', async () => {
    const lists = await read([gitlabNote, { ...gitlabNote, system: true }])
    const files = { 'issues.ndjson': lines([gitlabIssue]), 'project_members.ndjson': lines(gitlabMembers) }
    const exported = await readSource(folderOf(files))

    expect(lists.violations).toEqual([])
    expect(lists.records.map(({ kind }) => kind)).toEqual(['milestone', 'issue', 'comment'])
    expect(lists.records[0]).toEqual(exported.records[0])
    const [, issue, comment] = exported.records
    if (issue?.kind !== 'issue' || comment?.kind !== 'comment') throw new TypeError('the export has both')
    const { poster_email: _, reactions: __, ...rest } = issue.issue
    const labels = [{ name: 'bug', color: 'd73a4a' }, { name: 'urgent' }]
    expect(lists.records[1]).toEqual({ kind: 'issue', issue: { ...rest, labels } })
    const { reactions: ___, ...texts } = comment.comment
    expect(lists.records[2]).toEqual({ kind: 'comment', comment: { ...texts, poster_name: 'wim' } })
    expect(wordsOf(lists)).toEqual({
      attachment: 1,
      closed_by: 1,
      due_date: 1,
      reactions: 1,
      start_date: 1,
      system_note: 1,
      time_stats: 1,
    })
  })

  test('leave out what is confidential, and notes of anything else', async () => {
    const secret = { ...gitlabRestIssue, iid: 8, confidential: true }
    const outcome = await read(
      [
        { ...gitlabNote, internal: true },
        { ...gitlabNote, noteable_iid: 8 },
        { ...gitlabNote, noteable_type: 'MergeRequest' },
      ],
      [gitlabRestIssue, secret],
    )

    expect(outcome.records.map(({ kind }) => kind)).toEqual(['milestone', 'issue'])
    expect(outcome.notCarried).toContainEqual({ what: 'confidential', count: 2, pointer: '/1', file: 'issues.json' })
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 2, pointer: '/1', file: 'notes.json' })
  })

  test('count the notes of a list without them, and have ghosts', async () => {
    const outcome = await readSource({ json: JSON.stringify([{ ...gitlabRestIssue, author: null, labels: null }]) })

    expect(outcome.records[1]).toMatchObject({ issue: { poster_id: 0, poster_name: 'ghost', labels: [] } })
    expect(outcome.notCarried).toContainEqual({ what: 'comments', count: 1, pointer: '/0/user_notes_count' })
  })
})

describe('Gitea', () => {
  const rest = { 'issues.json': JSON.stringify(giteaIssues), 'comments.json': JSON.stringify([giteaComment]) }

  test('a dump and the REST lists give the same, but for what is named', async () => {
    const [dump, lists] = [await readSource(folderOf(giteaDump)), await readSource(folderOf(rest))]
    const issues = (outcome: typeof dump) =>
      outcome.records.flatMap((record) => {
        if (record.kind !== 'issue') return []
        const { reactions: _onlyInDump, ...issue } = canonicalIssue(record.issue)
        return [issue]
      })
    const of = (outcome: typeof dump, wanted: string) => outcome.records.filter(({ kind }) => kind === wanted)

    expect(dump.violations).toEqual([])
    expect(lists.violations).toEqual([])
    expect(issues(dump)).toHaveLength(2)
    expect(issues(lists)).toEqual(issues(dump))
    expect(of(lists, 'milestone')).toEqual(of(dump, 'milestone'))
    expect(of(dump, 'comment')).toMatchObject(of(lists, 'comment'))
    expect(of(dump, 'comment')).toHaveLength(1)
    expect(wordsOf(dump)).toEqual({ exclusive: 2, file: 1, system_note: 1 })
    expect(wordsOf(lists)).toEqual({ attachment: 1, due_date: 1, exclusive: 1 })
  })

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

  test('the comments of an issue follow its batch', async () => {
    const { records } = await readSource(folderOf(giteaDump))
    expect(records.map(({ kind }) => kind)).toEqual(['label', 'milestone', 'issue', 'comment', 'issue'])
  })
})

describe('a folder', () => {
  test.each([
    ['without issues', {}, {}],
    ['with issues of no forge', { 'issues.json': '[{"number":1}]' }, {}],
    ['with two dumps', { 'a/issue.yml': '[]', 'b/issue.yml': '[]' }, {}],
    ['of another form than the option says', giteaDump, { format: 'gitlab' as const }],
  ])('%s is not valid', async (_title, files, options) => {
    const { violations } = await readSource(folderOf(files), options)
    expect(violations).toMatchObject([{ code: 'folder', pointer: '' }])
  })

  test('with empty lists has no records', async () => {
    expect(await readSource(folderOf({ 'issues.json': '[]', 'comments.json': '[]' }))).toEqual({
      records: [],
      notCarried: [],
      violations: [],
    })
  })

  test('reports the file of a violation', async () => {
    const files = { ...giteaDump, 'comments/8.yml': '- issue_index: x\n' }
    const { violations } = await readSource(folderOf(files))
    expect(violations[0]).toMatchObject({ file: 'comments/8.yml', pointer: '/0/issue_number', line: 1, offset: 0 })
  })
})
