import { GHOST } from '../../schema/placeholder-names.ts'
import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { hasProperties, labelsOf, listOf, objectOf, says, textOf } from './foreign.ts'
import type { Conversion, Convert, ForgeFormat, Part } from './forge-format.ts'
import { rootOf } from './forge-format.ts'

/** The first version of the database of a tracker has the logins of users, the second one only their displayed names. */
const [FIRST, SECOND] = ['db-1.0.json', 'db-2.0.json']
const EXPECTED = 'expected an object with issues, comments, logs and meta'

/** What Bitbucket Cloud exports of a tracker, unpacked, or one of its databases: an object that has everything. */
export const bitbucketFormat: ForgeFormat = {
  name: 'bitbucket',
  recognizes: isTracker,
  refusal: (record) => (isTracker(record) ? undefined : EXPECTED),
  convert: () => [],
  partsOf,
  folder: {
    rootIn: (files) => rootOf(files, 'db-[12]\\.0\\.json'),
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
  const partsIn = (list: string, values: unknown, convert: Convert, ofIssue: string, ofComment = '') =>
    listOf(values).map((value, at) => {
      const { [ofIssue]: issue, [ofComment]: comment = 0 } = objectOf(value)
      const part: Part = [[list, at], value, convert]
      return { issue: Number(textOf(issue)), comment: Number(textOf(comment)), part }
    })
  const ofIssues = partsIn('issues', issues, (record, at) => issueIn(record, closings, at), 'id')
  const sorted = [...ofIssues, ...partsIn('comments', comments, commentIn, 'issue', 'id')].sort(
    (one, other) => one.issue - other.issue || one.comment - other.comment,
  )
  const ofMilestones = listOf(milestones).map((value, at): Part => [['milestones', at], value, milestoneIn])
  return [...ofMilestones, ...sorted.map(({ part }) => part), [[], rest, leaveOthers]]
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
  return at.milestone({ title, state: 'open' }, rest)
}

function issueIn(record: Foreign, closings: ReadonlyMap<unknown, unknown>, at: Findings): readonly Made[] {
  const { id: number, title, content, status, kind, priority, component, version, milestone, ...others } = record
  const { assignee, reporter: _, created_on: created, updated_on: updated, ...rest } = others
  const isClosed = CLOSED.has(status)
  const labels = labelsOf({ priority, component, version, status: PLAIN.has(status) ? null : status })
  const own = {
    ...{ number, title, content, milestone, created, updated, ...posterOf(record, 'reporter', at) },
    state: isClosed ? 'closed' : OPEN.has(status) ? 'open' : status,
    closed: isClosed ? (closings.get(number) ?? updated) : null,
    labels: [...listOf(kind).map((name) => ({ name })), ...labels],
    assignees: listOf(assignee).map(() => nameOf(record, 'assignee', at)),
  }
  return [at.issue(own, rest)]
}

function commentIn(record: Foreign, at: Findings): readonly Made[] {
  const { id: _, issue: issue_number, user: __, content, created_on: created, updated_on, ...rest } = record
  if (!says(content)) return [] // it only carries a change of the issue, which the logs have
  if (typeof issue_number === 'number' && !at.state.hasIssue(issue_number)) return at.leave('comments')
  const own = { issue_number, content, created, updated: updated_on ?? created, ...posterOf(record, 'user', at) }
  return [at.comment(own, rest)]
}

function leaveOthers({ attachments, logs, meta: _, components: __, versions: ___, ...rest }: Foreign, at: Findings) {
  at.leaveAll('attachment', 'attachments', attachments)
  at.leaveAll('log', 'logs', logs)
  at.leaveRest(rest)
  return []
}
