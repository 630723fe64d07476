import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ExchangeFormat, IssueSource } from '../../../src/exchange/exchange.ts'
import { folderOf, readSource } from '../reading.ts'
import { FOLDERS } from './samples.ts'

const RUNS = process.env['LONG'] === '1' ? 5_000 : 300

/** Only what a form needs: then every word that is reported was added. */
const user = { id: 3, login: 'mia' }
const milestone = { title: 'v1', state: 'open' }
const times = { created_at: '2024-02-29T08:30:00Z', updated_at: '2024-02-29T08:30:00Z' }
const common = { number: 7, title: 'a', state: 'open', user, assignees: [{ login: 'mia' }], milestone, ...times }
const github = { ...common, locked: false, labels: [{ name: 'bug' }] }
const gitea = { ...common, is_locked: false, labels: [{ name: 'bug' }] }
const poster = { poster_id: 3, poster_name: 'mia' }
const dumpTimes = { created: '2024-02-29T08:30:00Z', updated: '2024-02-29T08:30:00Z' }
const reaction = { user_id: 3, content: 'heart' }
const award = { name: 'heart', user_id: 3 }
const note = { note: 'b', author_id: 3, system: false, award_emoji: [award], ...times }
const gitlab = {
  iid: 7,
  author_id: 3,
  title: 'a',
  state: 'opened',
  milestone: { title: 'v1', state: 'active' },
  label_links: [{ label: { title: 'bug' } }],
  issue_assignees: [{ user_id: 3 }],
  award_emoji: [award],
  notes: [note],
  ...times,
}
const dump = {
  number: 7,
  ...poster,
  title: 'a',
  content: '',
  state: 'open',
  is_locked: false,
  labels: [{ name: 'bug' }],
  reactions: [reaction],
  foreignindex: 7,
  ...dumpTimes,
}
const restComment = { issue_url: 'https://git.example.com/issues/7', user, ...times }
const author = { id: 3, username: 'mia' }
const gitlabRest = {
  iid: 7,
  author,
  title: 'a',
  state: 'opened',
  milestone: { title: 'v1', state: 'active' },
  labels: [{ name: 'bug' }],
  assignees: [author],
  ...times,
}
const restNote = { noteable_iid: 7, author, body: 'b', system: false, ...times }
const ghTimes = { createdAt: '2024-02-29T08:30:00Z', updatedAt: '2024-02-29T08:30:00Z' }
const gh = {
  ...{ number: 7, title: 'a', body: 'b', state: 'OPEN', author: { login: 'mia' }, ...ghTimes },
  ...{ labels: [{ name: 'bug' }], milestone: { title: 'v1' }, assignees: [{ login: 'mia' }] },
  comments: [{ author: { login: 'mia' }, body: 'c', createdAt: ghTimes.createdAt }],
}
const forgeTimes = { created_on: '2024-02-29T08:30:00Z', updated_on: '2024-02-29T08:30:00Z' }
const bitbucket = {
  milestones: [{ name: 'v1' }],
  comments: [{ id: 9, issue: 7, user: { display_name: 'Mia' }, content: 'c', ...forgeTimes }],
  issues: [{ id: 7, title: 'a', content: 'b', status: 'new', reporter: { display_name: 'Mia' }, ...forgeTimes }],
  logs: [],
  meta: {},
}
const redmineUser = { id: 3, name: 'Mia' }
const journal = { id: 9, user: redmineUser, notes: 'c', created_on: '2024-02-29T08:30:00Z' }
const redmine = {
  issue: {
    ...{ id: 7, subject: 'a', description: 'b', status: { name: 'New', is_closed: false }, author: redmineUser },
    ...{ tracker: { name: 'Bug' }, journals: [journal], ...forgeTimes },
  },
}
const address = 'https://github.example.com/acme/rocket'
const bug = { url: `${address}/labels/bug`, name: 'bug' }
const archived = { repository: address, user: 'https://github.example.com/mia', created_at: times.created_at }
const reacted = { user: archived.user, content: 'heart', subject_type: 'Issue', created_at: times.created_at }
const archive = {
  type: 'issue',
  url: `${address}/issues/7`,
  ...archived,
  title: 'a',
  comments: 1,
  labels: [bug.url],
  assignees: [archived.user],
  milestone: `${address}/milestones/1`,
  reactions: [reacted],
  closed_at: null,
  updated_at: times.updated_at,
}
const archivedMilestone = { type: 'milestone', url: archive.milestone, ...archived, title: 'v1' }
const archivedComment = {
  type: 'issue_comment',
  url: `${address}/issues/7#issuecomment-1`,
  ...archived,
  issue: archive.url,
  formatter: 'markdown',
  reactions: [reacted],
}
const backup = { ...github, comments: 1, comment_data: [restComment] }

const member = { user: { id: 3, username: 'mia' } }

/** A list of a form, with the objects in it to which properties are added, and how it becomes a source. */
interface Place {
  readonly format: ExchangeFormat
  readonly base: object
  readonly path: readonly PropertyKey[]
  readonly source: (record: unknown) => IssueSource
}

type Source = Place['source']

const json = (...records: readonly unknown[]): string => JSON.stringify(records)
const alone: Source = (record) => ({ json: json(record) })
const one: Source = (record) => ({ json: JSON.stringify(record) })
const inFolder = (file: string, files: { readonly [name: string]: string }): Source => {
  return (record) => folderOf({ ...files, [file]: json(record) })
}
const placesIn = (
  format: ExchangeFormat,
  base: object,
  source: Source = alone,
  paths: readonly (readonly PropertyKey[])[] = [[]],
): readonly Place[] => paths.map((path) => ({ format, base, path, source }))

const ofIssue = [[], ['labels', 0], ['milestone']]
const ofGitlabIssue = [
  [],
  ['milestone'],
  ['label_links', 0, 'label'],
  ['award_emoji', 0],
  ['notes', 0],
  ['notes', 0, 'award_emoji', 0],
]
const gitlabFiles = { 'project_members.ndjson': json(member), 'issues.ndjson': json(gitlab) }
const dumpFiles = { 'issue.yml': json(dump) }

const archiveFiles = {
  'repositories_000001.json': json({ type: 'repository', url: address, labels: [bug] }),
  'milestones_000001.json': json(archivedMilestone),
  'issues_000001.json': json(archive),
}
const ofRepository = inFolder('repositories_000001.json', archiveFiles)
const backupFiles = { 'issues/7.json': JSON.stringify(backup) }

const places: readonly Place[] = [
  ...placesIn('github', github, alone, ofIssue),
  ...placesIn('github', restComment, inFolder('comments.json', { 'issues.json': json(github) })),
  ...placesIn('gitea', gitea, alone, ofIssue),
  ...placesIn('gitea', restComment, inFolder('comments.json', { 'issues.json': json(gitea) })),
  ...placesIn('gitea-dump', dump, alone, [[], ['labels', 0], ['reactions', 0]]),
  ...placesIn('gitea-dump', { name: 'other' }, inFolder('label.yml', dumpFiles)),
  ...placesIn('gitea-dump', { title: 'v2', state: 'open' }, inFolder('milestone.yml', dumpFiles)),
  ...placesIn('gitea-dump', { issue_index: 7, ...poster, ...dumpTimes }, inFolder('comments/7.yml', dumpFiles)),
  ...placesIn('gitlab', gitlab, inFolder('issues.ndjson', gitlabFiles), ofGitlabIssue),
  ...placesIn('gitlab', { title: 'other' }, inFolder('labels.ndjson', gitlabFiles)),
  ...placesIn('gitlab', { title: 'v2', state: 'active' }, inFolder('milestones.ndjson', gitlabFiles)),
  ...placesIn('github-cli', gh, alone, [...ofIssue, ['comments', 0]]),
  ...placesIn('bitbucket', bitbucket, one, [[], ['issues', 0], ['comments', 0], ['milestones', 0]]),
  ...placesIn('redmine', redmine, one, [['issue'], ['issue', 'journals', 0]]),
  ...placesIn('github-archive', archive, inFolder('issues_000001.json', archiveFiles), [[], ['reactions', 0]]),
  ...placesIn('github-archive', archivedMilestone, inFolder('milestones_000001.json', archiveFiles)),
  ...placesIn('github-archive', archivedComment, inFolder('issue_comments_000001.json', archiveFiles), [
    [],
    ['reactions', 0],
  ]),
  ...placesIn('github-archive', { type: 'repository', url: address, labels: [bug] }, ofRepository, [['labels', 0]]),
  ...placesIn('github-backup', backup, inFolder('issues/7.json', {}), [...ofIssue, ['comment_data', 0]]),
  ...placesIn('github-backup', { name: 'other' }, inFolder('labels/labels.json', backupFiles)),
  ...placesIn('github-backup', { title: 'v2', state: 'open' }, inFolder('milestones/2.json', backupFiles)),
  ...placesIn('gitlab-rest', gitlabRest, alone, ofIssue),
  ...placesIn('gitlab-rest', restNote, inFolder('notes.json', { 'issues.json': json(gitlabRest) })),
]

const names = fc.oneof(
  fc.constantFrom(
    ...new Set([
      ...Object.values(FOLDERS).flatMap(
        (files) =>
          Object.values(files)
            .join()
            .match(/\b[a-z_]+(?="?:)/gi) ?? [],
      ),
      ...['pull_request', 'confidential', 'internal', 'weight', 'original_author', 'access_level', 'public_email'],
    ]),
  ),
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty'),
)

/** Values that say something. */
const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.integer({ min: 1 }),
  fc.constantFrom(true, '2024-12-24', '2024-12-24T08:00:00Z', 'closed'),
  fc.array(fc.oneof(fc.string({ minLength: 1 }), fc.integer({ min: 1 })), { minLength: 1, maxLength: 3 }),
  fc.dictionary(fc.string({ minLength: 1 }), fc.integer({ min: 1 }), { minKeys: 1, maxKeys: 3 }),
)

/**
 * What is not reported: ids, addresses and counters of the forge, what repeats what the record is or belongs to, and what
 * GitLab derives from the rest.
 */
const OF_THE_FORGE =
  /^(?:references|_links|subscribed|has_tasks|task_status|task_completion_status|expired|description_html|text_?color)$|(?:^|_)(?:id|ids|iid|url|count|index|version|score|issues)$|^(?:repository|number|type|author|(?:awardable|noteable|target)_type)$/i

/** What `gh` derives or says of its user, what trackers say of themselves, and the number of comments where they all are. */
const OF_THE_TRACKER: { readonly [Format in ExchangeFormat]?: RegExp } = {
  'github-cli': /^(?:closed|authorAssociation|includesCreatedEdit|viewerDidAuthor|minimizedReason)$/,
  'github-backup': /^comments$/,
  bitbucket: /^(?:meta|components|versions)$/,
  redmine: /^project$/,
}

/** What is not reported of a label: that GitHub made it itself, and when it was made. */
function isOfLabel({ format, base, path }: Place, name: string): boolean {
  const isLabel = path[0] === 'labels' || path[2] === 'label' || ['title', 'name'].includes(Object.keys(base).join())
  if (!isLabel || format === 'gitea-dump') return false
  if (format === 'github-archive' && name === 'created_at') return true
  return format.startsWith('gitlab') ? ['created_at', 'updated_at'].includes(name) : name === 'default'
}

/** Milestones with a state, which `gh` does not write, and labels with two names. */
const examples: [Place, string, unknown][] = [
  ...places.filter(({ format, path }) => format === 'github-cli' && path[0] === 'milestone').map(withState),
  ...places
    .filter(
      ({ format, path }) =>
        (format === 'gitlab' && path[2] === 'label') || (format === 'gitlab-rest' && path[0] === 'labels'),
    )
    .map((place): [Place, string, unknown] => [place, place.format === 'gitlab' ? 'name' : 'title', 'other']),
]

function withState(place: Place): [Place, string, unknown] {
  return [place, 'state', 'closed']
}

describe('every property that says something', () => {
  test('is in the result, reported as not carried, or not valid', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), names, values, async (place, name, value) => {
        const { format, base, path, source } = place
        fc.pre(!hasProperty(base, path, name) && !OF_THE_FORGE.test(name) && !isOfLabel(place, name))
        fc.pre(OF_THE_TRACKER[format]?.test(name) !== true)
        const before = await readSource(source(base), { format })
        const after = await readSource(source(withProperty(base, path, name, value)), { format })

        expect(before.violations).toEqual([])
        expect(after).not.toEqual(before)
      }),
      { numRuns: RUNS, examples },
    )
  })

  test.each(places)('the base of $format at $path is valid and has its records', async ({ format, base, source }) => {
    const { records, violations } = await readSource(source(base), { format })
    expect(violations).toEqual([])
    expect(records.length).toBeGreaterThan(0)
  })
})

function hasProperty(value: unknown, path: readonly PropertyKey[], name: string): boolean {
  let object = value
  for (const step of path) object = Object(object)[step]
  return Object.hasOwn(Object(object), name)
}

function withProperty(value: unknown, [step, ...rest]: readonly PropertyKey[], name: string, added: unknown): unknown {
  if (step === undefined) return Object.fromEntries([...Object.entries(Object(value)), [name, added]])
  if (Array.isArray(value)) return value.map((item, at) => (at === step ? withProperty(item, rest, name, added) : item))
  return { ...Object(value), [step]: withProperty(Object(value)[step], rest, name, added) }
}
