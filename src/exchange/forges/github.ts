import type { CommentRecord, ExchangeRecord, IssueRecord, LabelRecord } from '../../schema/issue-record.ts'
import { ConversionState } from './conversion-state.ts'
import type { ForeignObject, Words } from './foreign-object.ts'
import { hasProperties, readObject } from './foreign-object.ts'
import type { Conversion, Findings, ForgeFormat } from './forge-format.ts'
import { reportLinks, STATES } from './forge-format.ts'
import {
  leaveComment,
  numberInUrl,
  restAssignees,
  restFolder,
  restLabel,
  restMilestone,
  restUser,
} from './rest-list.ts'

/** Issues of GitHub's REST API, alone or in a folder with the list of comments. */
export const githubFormat: ForgeFormat = {
  name: 'github',
  recognizes: (record) => hasProperties(record, 'number', 'user', 'locked', 'created_at'),
  open: () => new GithubIssues(new ConversionState(), false),
  folder: restFolder((_options, hasComments) => {
    const state = new ConversionState()
    return { issues: new GithubIssues(state, hasComments), comments: new GithubComments(state) }
  }),
}

const ISSUE_WORDS: Words = {
  active_lock_reason: 'lock_reason',
  author_association: 'author_association',
  body_html: 'rendered_text',
  body_text: 'rendered_text',
  closed_by: 'closed_by',
  comments_url: 'identifier',
  draft: 'draft',
  events_url: 'identifier',
  html_url: 'identifier',
  id: 'identifier',
  issue_dependencies_summary: 'dependencies',
  issue_field_values: 'custom_field',
  labels_url: 'identifier',
  node_id: 'identifier',
  parent_issue_url: 'parent',
  performed_via_github_app: 'app',
  pinned_comment: 'pin',
  repository: 'identifier',
  repository_url: 'identifier',
  score: 'statistics',
  state_reason: 'state_reason',
  sub_issues_summary: 'sub_issues',
  timeline_url: 'identifier',
  type: 'issue_type',
  url: 'identifier',
}
const COMMENT_WORDS: Words = {
  author_association: 'author_association',
  body_html: 'rendered_text',
  body_text: 'rendered_text',
  html_url: 'identifier',
  id: 'identifier',
  node_id: 'identifier',
  performed_via_github_app: 'app',
  pin: 'pin',
  url: 'identifier',
}
const ATTACHMENT =
  /https:\/\/(?:user-images\.githubusercontent\.com\/|github\.com\/(?:user-attachments|[\w.-]+\/[\w.-]+)\/(?:assets|files)\/)/g

class GithubIssues implements Conversion {
  readonly #state: ConversionState
  readonly #hasComments: boolean

  constructor(state: ConversionState, hasComments: boolean) {
    this.#state = state
    this.#hasComments = hasComments
  }

  convert(record: unknown, findings: Findings): readonly ExchangeRecord[] {
    const object = readObject(record, [], findings)
    if (object === undefined) return []
    if (object.has('pull_request')) {
      findings.notCarried('pull_request', [])
      return []
    }
    const milestone = restMilestone(object, this.#state, findings)
    const closed = object.optionalTime('closed_at')
    const content = object.textOrEmpty('body')
    reportLinks(ATTACHMENT, content, ['body'], findings)
    const issue: IssueRecord = {
      number: object.number('number'),
      ...restUser(object.object('user')),
      title: object.text('title'),
      content,
      ...(milestone && { milestone: milestone.title }),
      state: object.choice('state', STATES, 'open'),
      is_locked: object.flag('locked'),
      created: object.time('created_at'),
      updated: object.time('updated_at'),
      ...(closed !== undefined && { closed }),
      labels: this.#labels(object, findings),
      assignees: restAssignees(object),
    }
    if (this.#hasComments) object.take('comments')
    object.leaveCount('comments', 'comments')
    leaveReactions(object)
    object.reportRest(ISSUE_WORDS)
    return [...(milestone?.records ?? []), { kind: 'issue', issue }]
  }

  carried(records: readonly ExchangeRecord[]): void {
    this.#state.carried(records)
  }

  /** A label may be its name alone. */
  #labels(issue: ForeignObject, findings: Findings): LabelRecord[] {
    return issue.list('labels').flatMap((value, index) => {
      if (typeof value === 'string') return [{ name: value }]

      const label = readObject(value, ['labels', index], findings)
      return label === undefined ? [] : [restLabel(label, this.#state, findings)]
    })
  }
}

class GithubComments implements Conversion {
  readonly #state: ConversionState

  constructor(state: ConversionState) {
    this.#state = state
  }

  convert(record: unknown, findings: Findings): readonly ExchangeRecord[] {
    const object = readObject(record, [], findings)
    if (object === undefined) return []

    const issue_number = numberInUrl(object, 'issue_url', findings)
    if (!this.#state.hasIssue(issue_number)) return leaveComment(findings)

    const content = object.textOrEmpty('body')
    reportLinks(ATTACHMENT, content, ['body'], findings)
    const comment: CommentRecord = {
      issue_number,
      ...restUser(object.object('user')),
      created: object.time('created_at'),
      updated: object.time('updated_at'),
      content,
    }
    leaveReactions(object)
    object.reportRest(COMMENT_WORDS)
    return [{ kind: 'comment', comment }]
  }
}

/** GitHub only counts reactions. Who reacted is not in the list. */
function leaveReactions(object: ForeignObject): void {
  const reactions = object.object('reactions')
  reactions?.leave('identifier', 'url')
  const total = reactions?.has('total_count') === true
  if (total) reactions.leaveCount('reactions', 'total_count')
  else reactions?.reportRest('reactions')
}
