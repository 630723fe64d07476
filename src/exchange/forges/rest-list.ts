import type { ExchangeRecord, IssueRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import type { ConversionState } from './conversion-state.ts'
import type { ForeignObject, Words } from './foreign-object.ts'
import type { Conversion, ConversionOptions, Findings, FolderFormat } from './forge-format.ts'
import { fileNamed, STATES } from './forge-format.ts'

/** The conversions of a folder with two lists of a REST API. */
export interface RestConversions {
  readonly issues: Conversion
  readonly comments: Conversion
}

const COMMENTS = 'comments.json'
const ISSUES = 'issues.json'

/** Words for the properties of users, labels and milestones of GitHub and Gitea. */
const LABEL_WORDS: Words = {
  default: 'label_default',
  exclusive: 'exclusive_label',
  id: 'identifier',
  is_archived: 'archived_label',
  node_id: 'identifier',
  url: 'identifier',
}
/** Everything about a user but the id, the name and the email address of an author. */
const PROFILE = 'profile'
const MILESTONE_WORDS: Words = {
  closed_issues: 'statistics',
  creator: 'milestone_creator',
  html_url: 'identifier',
  id: 'identifier',
  labels_url: 'identifier',
  node_id: 'identifier',
  number: 'identifier',
  open_issues: 'statistics',
  url: 'identifier',
}

/** A folder with `issues.json` and `comments.json`, as they come from a REST API. Comments follow all issues. */
export function restFolder(open: (options: ConversionOptions, hasComments: boolean) => RestConversions): FolderFormat {
  return {
    issuesFile: (names) => fileNamed(names, ISSUES),
    async *read(folder) {
      const issuesFile = fileNamed(folder.names, ISSUES) ?? ISSUES
      const commentsFile = `${issuesFile.slice(0, -ISSUES.length)}${COMMENTS}`
      const hasComments = folder.names.includes(commentsFile)
      const { issues, comments } = open(folder.options, hasComments)
      yield* folder.read(issuesFile, issues)
      if (hasComments) yield* folder.read(commentsFile, comments)
      for (const name of folder.names) if (name !== issuesFile && name !== commentsFile) folder.leave('file', name)
    },
  }
}

/** A user of a REST API. Null: the user was deleted. */
export function restUser(
  user: ForeignObject | undefined,
): Pick<IssueRecord, 'poster_id' | 'poster_name' | 'poster_email'> {
  if (user === undefined) return { poster_id: 0, poster_name: 'ghost' }

  const poster_email = user.optionalText('email')
  const poster = {
    poster_id: user.number('id'),
    poster_name: user.text('login'),
    ...(poster_email !== undefined && { poster_email }),
  }
  user.takeRepeated('username', poster.poster_name)
  user.reportRest(PROFILE)
  return poster
}

/** The names of users that an issue is assigned to. An older server names only the first, in `assignee`. */
export function restAssignees(issue: ForeignObject): string[] {
  const names = issue.objects('assignees').map(nameOf)
  const first = issue.object('assignee')
  const name = first === undefined ? undefined : nameOf(first)
  return name === undefined || names.includes(name) ? names : [name, ...names]
}

function nameOf(user: ForeignObject): string {
  const name = user.text('login')
  user.reportRest(PROFILE)
  return name
}

/** A label of a REST API. */
export function restLabel(label: ForeignObject, state: ConversionState, findings: Findings): LabelRecord {
  const name = label.text('name')
  const [color, description] = [label.optionalText('color'), label.optionalText('description')]
  label.reportRest(LABEL_WORDS)
  const record = { name, ...(color !== undefined && { color }), ...(description !== undefined && { description }) }
  return state.labels.of(name, record, label.path, findings)
}

/** The milestone of an issue of a REST API: its title, and the records that have to precede the issue. */
export function restMilestone(
  issue: ForeignObject,
  state: ConversionState,
  findings: Findings,
): { readonly title: string; readonly records: readonly ExchangeRecord[] } | undefined {
  const milestone = issue.object('milestone')
  if (milestone === undefined) return undefined

  const description = milestone.optionalText('description')
  const [deadline, created] = [milestone.optionalTime('due_on'), milestone.optionalTime('created_at')]
  const [updated, closed] = [milestone.optionalTime('updated_at'), milestone.optionalTime('closed_at')]
  const record: MilestoneRecord = {
    title: milestone.text('title'),
    ...(description !== undefined && { description }),
    ...(deadline !== undefined && { deadline }),
    ...(created !== undefined && { created }),
    ...(updated !== undefined && { updated }),
    ...(closed !== undefined && { closed }),
    state: milestone.choice('state', STATES, 'open'),
  }
  milestone.reportRest(MILESTONE_WORDS)
  return { title: record.title, records: state.milestone(record, milestone.path, findings) }
}

/** Reports a comment whose issue was not carried. */
export function leaveComment(findings: Findings): readonly ExchangeRecord[] {
  findings.notCarried('comments', [])
  return []
}

/** Takes the number of the issue from the address at the end of which it is. */
export function numberInUrl(comment: ForeignObject, name: string, findings: Findings): number {
  const url = comment.optionalText(name)
  const number = url === undefined ? undefined : /\/(\d+)$/.exec(url)?.[1]
  if (number === undefined) findings.invalid([name], 'type', 'expected an address that ends in the number of the issue')
  return Number(number ?? 0)
}
