import { GHOST } from '../../schema/placeholder-names.ts'
import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { commentOf, hasProperties, issueOf, labelsOf, listOf, objectOf, says, textOf } from './foreign.ts'
import type { Conversion, Convert, ForgeFormat, Part } from './forge-format.ts'
import { rootsOf } from './forge-format.ts'

/** The first version of the database of a tracker has the logins of users, the second one only their displayed names. */
const [FIRST, SECOND] = ['db-1.0.json', 'db-2.0.json']
const EXPECTED = 'expected an object with issues, comments, logs and meta'

/** What Bitbucket Cloud exports of a tracker, unpacked, or one of its databases: an object that has everything. */
export const bitbucketFormat: ForgeFormat = {
  recognizes: isTracker,
  refusal: (record) => (isTracker(record) ? undefined : EXPECTED),
  convert: () => [],
  partsOf,
  folder: {
    rootsIn: (files) => rootsOf(files, 'db-[12]\\.0\\.json'),
    expected: `${EXPECTED}, as Bitbucket exports a tracker: export it again, and unpack all of it`,
    async *read({ state, read }) {
      const as = (conversion: Conversion) => (record: unknown) => (isTracker(record) ? conversion : undefined)
      if (state.files.has(SECOND)) yield* read(FIRST, as(LOGINS))
      for (const file of [SECOND, FIRST]) yield* read(file, as(bitbucketFormat))
    },
    // The database has the attachments; another one is the same for Jira.
    wordOf: (file) => (/^(?:db-jira-cloud\.json$|\.signature$|attachments\/)/.test(file) ? undefined : 'file'),
  },
}

function isTracker(record: unknown): boolean {
  return hasProperties(record, 'issues', 'comments', 'logs', 'meta')
}

/** Logins are known by the role of a user and the id of the issue or comment: `reporter 3`. */
const LOGINS: Conversion = {
  convert({ issues, comments }, { state }) {
    for (const [role, list] of Object.entries({ reporter: issues, assignee: issues, user: comments })) {
      for (const record of listOf(list).map(objectOf)) state.known.set(`${role} ${textOf(record['id'])}`, record[role])
    }
    return []
  },
}

function nameOf(record: Foreign, role: string, at: Findings): unknown {
  const user = at.state.known.get(`${role} ${textOf(record['id'])}`) ?? record[role]
  return says(user) ? (objectOf(user)['display_name'] ?? user) : GHOST.poster_name
}

function posterOf(record: Foreign, role: string, at: Findings): Foreign {
  return { ...GHOST, poster_name: nameOf(record, role, at) }
}

/** Statuses, and those that say nothing beside it. */
const OPEN: ReadonlySet<unknown> = new Set(['new', 'open', 'on hold'])
const CLOSED: ReadonlySet<unknown> = new Set(['resolved', 'closed', 'invalid', 'duplicate', 'wontfix'])
const PLAIN: ReadonlySet<unknown> = new Set(['new', 'open', 'resolved', 'closed'])

/** Returns the milestones, the issues by their numbers, each with its comments behind it, and the rest. */
function partsOf({ milestones, issues, comments, ...rest }: Foreign): readonly Part[] {
  const closings = closingsIn(rest['logs'])
  const partsIn = (list: string, values: unknown, convert: Convert): readonly Part[] =>
    listOf(values).map((value, at) => [[list, at], value, convert])
  const issueOfThis: Convert = (record, at) => issueIn(record, closings, at)
  const sorted = [...partsIn('issues', issues, issueOfThis), ...partsIn('comments', comments, commentIn)]
    .map((part) => ({ part, ...placeOf(part) }))
    .sort((one, other) => one.issue - other.issue || one.comment - other.comment)
  return [...partsIn('milestones', milestones, milestoneIn), ...sorted.map(({ part }) => part), [[], rest, leaveOthers]]
}

/** Returns the number of an issue, or that of the issue of a comment, and the id of the comment. */
function placeOf([, value]: Part): { readonly issue: number; readonly comment: number } {
  const { id, issue } = objectOf(value)
  return { issue: Number(textOf(issue ?? id)), comment: issue === undefined ? 0 : Number(textOf(id)) }
}

/** Returns when each issue was closed last. */
function closingsIn(logs: unknown): ReadonlyMap<unknown, unknown> {
  const closings = listOf(logs)
    .map(objectOf)
    .filter(({ field, changed_to }) => field === 'status' && CLOSED.has(changed_to))
    .sort((one, other) => textOf(one['created_on']).localeCompare(textOf(other['created_on'])))
  return new Map(closings.map(({ issue, created_on }) => [issue, created_on]))
}

function milestoneIn({ name: title, ...rest }: Foreign, at: Findings): readonly Made[] {
  at.leaveRest(rest)
  return at.milestone({ title, state: 'open' })
}

function issueIn(record: Foreign, closings: ReadonlyMap<unknown, unknown>, at: Findings): readonly Made[] {
  const { id: number, title, content, status, kind, priority, component, version, milestone, ...others } = record
  const { assignee, reporter: _, created_on: created, updated_on: updated, ...rest } = others
  at.leaveRest(rest)
  const closed = CLOSED.has(status) ? (closings.get(number) ?? updated) : null
  const labels = labelsOf({ priority, component, version, status: PLAIN.has(status) ? null : status })
  const state = CLOSED.has(status) ? 'closed' : OPEN.has(status) ? 'open' : status
  const lists = {
    labels: [...listOf(kind).map((name) => ({ name })), ...labels],
    assignees: listOf(assignee).map(() => nameOf(record, 'assignee', at)),
  }
  const of = { number, title, content, milestone, state, created, updated, closed }
  return [issueOf(of, posterOf(record, 'reporter', at), lists)]
}

function commentIn(record: Foreign, at: Findings): readonly Made[] {
  const { id: _, issue: issue_number, user: __, content, created_on: created, updated_on, ...rest } = record
  if (!says(content)) return [] // it only carries a change of the issue, which the logs have
  if (at.lacksIssue(issue_number)) return []
  at.leaveRest(rest)
  const of = { issue_number, created, updated: updated_on ?? created, content }
  return [commentOf(of, posterOf(record, 'user', at))]
}

function leaveOthers({ attachments, logs, meta: _, components: __, versions: ___, ...rest }: Foreign, at: Findings) {
  at.leaveAll('attachment', 'attachments', attachments)
  at.leaveAll('log', 'logs', logs)
  at.leaveRest(rest)
  return []
}
