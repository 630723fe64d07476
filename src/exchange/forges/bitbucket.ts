import { GHOST } from '../../schema/placeholder-names.ts'
import { ConversionState } from './conversion-state.ts'
import { commentOf, hasProperties, issueOf, labelsOf, leaveRest, listOf, objectOf, says, textOf } from './foreign.ts'
import type { Conversion, Foreign, ForgeFormat, Part } from './forge-format.ts'
import { leave, rootOf } from './forge-format.ts'

/** The first version of the database of a tracker has the logins of users, the second one only their displayed names. */
const [FIRST, SECOND] = ['db-1.0.json', 'db-2.0.json']

/** What Bitbucket Cloud exports of a tracker, unpacked, or one of its databases: an object that has everything. */
export const bitbucketFormat: ForgeFormat = {
  name: 'bitbucket',
  recognizes: isTracker,
  refusal: (record) => (isTracker(record) ? undefined : 'expected an object with issues, comments, logs and meta'),
  open: () => ({ issues: tracker(new Map()) }),
  folder: {
    rootIn: (files) => rootOf(files, SECOND) ?? rootOf(files, FIRST),
    async *read({ files, read }) {
      const logins: Logins = new Map()
      const as = (conversion: Conversion) => (record: unknown) => (isTracker(record) ? conversion : undefined)
      if (files.includes(SECOND)) yield* read(FIRST, as(users(logins)))
      for (const file of [SECOND, FIRST]) yield* read(file, as(tracker(logins)))
    },
    // The database has the attachments; another one is the same for Jira.
    wordOf: (file) => (/^(?:db-jira-cloud\.json$|\.signature$|attachments\/)/.test(file) ? undefined : 'file'),
  },
}

function isTracker(record: unknown): boolean {
  return hasProperties(record, 'issues', 'comments', 'logs', 'meta')
}

/** Logins, by the role of a user and the id of the issue or comment: `reporter 3`. */
type Logins = Map<string, unknown>

function users(logins: Logins): Conversion {
  return {
    convert({ issues, comments }) {
      for (const [role, list] of Object.entries({ reporter: issues, assignee: issues, user: comments })) {
        for (const record of listOf(list).map(objectOf)) logins.set(`${role} ${textOf(record['id'])}`, record[role])
      }
      return []
    },
  }
}

/** Statuses, and those that say nothing beside it. */
const OPEN: ReadonlySet<unknown> = new Set(['new', 'open', 'on hold'])
const CLOSED: ReadonlySet<unknown> = new Set(['resolved', 'closed', 'invalid', 'duplicate', 'wontfix'])
const PLAIN: ReadonlySet<unknown> = new Set(['new', 'open', 'resolved', 'closed'])

function tracker(logins: Logins): Conversion {
  const state = new ConversionState()
  /** When each issue was closed last. */
  let closings: ReadonlyMap<unknown, unknown> = new Map()
  const nameOf = (record: Foreign, role: string): unknown => {
    const user = logins.get(`${role} ${textOf(record['id'])}`) ?? record[role]
    return says(user) ? (objectOf(user)['display_name'] ?? user) : GHOST.poster_name
  }
  const posterOf = (record: Foreign, role: string) => ({ ...GHOST, poster_name: nameOf(record, role) })

  /** By the list that a part of the object is in. */
  const conversions: { readonly [list: PropertyKey]: Conversion['convert'] } = {
    milestones({ name: title, ...rest }, findings) {
      leaveRest(rest, findings)
      return state.milestone({ title, state: 'open' }, findings)
    },
    issues(record, findings) {
      const { id, title, content, status, kind, priority, component, version, milestone, assignee, ...others } = record
      const { reporter: _, created_on: created, updated_on: updated, ...rest } = others
      leaveRest(rest, findings)
      const closed = CLOSED.has(status) ? (closings.get(id) ?? updated) : null
      const labels = labelsOf({ priority, component, version, status: PLAIN.has(status) ? null : status })
      const stateOf = CLOSED.has(status) ? 'closed' : OPEN.has(status) ? 'open' : status
      const of = { number: id, title, content, milestone, state: stateOf, created, updated, closed }
      const lists = {
        labels: [...listOf(kind).map((name) => ({ name })), ...labels],
        assignees: listOf(assignee).map(() => nameOf(record, 'assignee')),
      }
      return [issueOf(of, posterOf(record, 'reporter'), lists)]
    },
    comments(record, findings) {
      const { id: _, issue, user: __, content, created_on: created, updated_on, ...rest } = record
      if (!says(content)) return [] // it only carries a change of the issue, which the logs have
      if (typeof issue === 'number' && !state.hasIssue(issue)) return leave(findings, 'comments')
      leaveRest(rest, findings)
      const of = { issue_number: issue, created, updated: updated_on ?? created, content }
      return [commentOf(of, posterOf(record, 'user'))]
    },
    rest({ attachments, logs, meta: _, components: __, versions: ___, ...rest }, findings) {
      if (says(attachments)) findings.notCarried('attachment', ['attachments'], listOf(attachments).length)
      if (says(logs)) findings.notCarried('log', ['logs'], listOf(logs).length)
      leaveRest(rest, findings)
      return []
    },
  }

  return {
    state,
    partsOf(record) {
      closings = closingsIn(record['logs'])
      return partsOf(record)
    },
    convert: (record, findings, path) => conversions[path[0] ?? 'rest']?.(record, findings, path) ?? [],
  }
}

function closingsIn(logs: unknown): ReadonlyMap<unknown, unknown> {
  const closings = listOf(logs)
    .map(objectOf)
    .filter(({ field, changed_to }) => field === 'status' && CLOSED.has(changed_to))
    .sort((one, other) => textOf(one['created_on']).localeCompare(textOf(other['created_on'])))
  return new Map(closings.map(({ issue, created_on }) => [issue, created_on]))
}

/** Returns the milestones, the issues by their numbers, each with its comments behind it, and the rest. */
function partsOf({ milestones, issues, comments, ...rest }: Foreign): readonly Part[] {
  const partsIn = (list: string, values: unknown, ofIssue: string, ofComment: string) =>
    listOf(values).map((value, at) => {
      const { [ofIssue]: issue, [ofComment]: comment = 0 } = objectOf(value)
      return { issue: Number(textOf(issue)), comment: Number(textOf(comment)), part: [[list, at], value] as const }
    })
  const sorted = [...partsIn('issues', issues, 'id', ''), ...partsIn('comments', comments, 'issue', 'id')].sort(
    (one, other) => one.issue - other.issue || one.comment - other.comment,
  )
  const parts = [...partsIn('milestones', milestones, '', ''), ...sorted].map(({ part }) => part)
  return [...parts, [[], rest]]
}
