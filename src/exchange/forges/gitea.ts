import type { CommentRecord, ExchangeRecord, IssueRecord } from '../../schema/issue-record.ts'
import { ConversionState } from './conversion-state.ts'
import type { ForeignObject, Words } from './foreign-object.ts'
import { hasProperties, readObject } from './foreign-object.ts'
import type { Conversion, Findings, ForgeFormat } from './forge-format.ts'
import { STATES } from './forge-format.ts'
import {
  leaveComment,
  numberInUrl,
  restAssignees,
  restFolder,
  restLabel,
  restMilestone,
  restUser,
} from './rest-list.ts'

/** Issues of Gitea's REST API, alone or in a folder with the list of comments. */
export const giteaFormat: ForgeFormat = {
  name: 'gitea',
  recognizes: (record) => hasProperties(record, 'number', 'user', 'is_locked', 'created_at'),
  open: () => new GiteaIssues(new ConversionState(), false),
  folder: restFolder((_options, hasComments) => {
    const state = new ConversionState()
    return { issues: new GiteaIssues(state, hasComments), comments: new GiteaComments(state) }
  }),
}

const ISSUE_WORDS: Words = {
  assets: 'attachment',
  content_version: 'statistics',
  due_date: 'due_date',
  html_url: 'identifier',
  id: 'identifier',
  pin_order: 'pin',
  repository: 'identifier',
  time_estimate: 'time_estimate',
  url: 'identifier',
}
const COMMENT_WORDS: Words = {
  assets: 'attachment',
  html_url: 'identifier',
  id: 'identifier',
}

class GiteaIssues implements Conversion {
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
    const [ref, closed] = [object.optionalText('ref'), object.optionalTime('closed_at')]
    const issue: IssueRecord = {
      number: object.number('number'),
      ...posterOf(object, findings),
      title: object.text('title'),
      content: object.textOrEmpty('body'),
      ...(ref !== undefined && { ref }),
      ...(milestone && { milestone: milestone.title }),
      state: object.choice('state', STATES, 'open'),
      is_locked: object.flag('is_locked'),
      created: object.time('created_at'),
      updated: object.time('updated_at'),
      ...(closed !== undefined && { closed }),
      labels: object.objects('labels').map((label) => restLabel(label, this.#state, findings)),
      assignees: restAssignees(object),
    }
    if (this.#hasComments) object.take('comments')
    object.leaveCount('comments', 'comments')
    object.reportRest(ISSUE_WORDS)
    return [...(milestone?.records ?? []), { kind: 'issue', issue }]
  }

  carried(records: readonly ExchangeRecord[]): void {
    this.#state.carried(records)
  }
}

class GiteaComments implements Conversion {
  readonly #state: ConversionState

  constructor(state: ConversionState) {
    this.#state = state
  }

  convert(record: unknown, findings: Findings): readonly ExchangeRecord[] {
    const object = readObject(record, [], findings)
    if (object === undefined) return []
    if (object.has('pull_request_url')) return leaveComment(findings)

    const issue_number = numberInUrl(object, 'issue_url', findings)
    if (!this.#state.hasIssue(issue_number)) return leaveComment(findings)

    const comment: CommentRecord = {
      issue_number,
      ...posterOf(object, findings),
      created: object.time('created_at'),
      updated: object.time('updated_at'),
      content: object.textOrEmpty('body'),
    }
    object.reportRest(COMMENT_WORDS)
    return [{ kind: 'comment', comment }]
  }
}

/** What was itself imported into Gitea has an original author. The user is then the one who imported it. */
function posterOf(object: ForeignObject, findings: Findings): ReturnType<typeof restUser> {
  if (!object.has('original_author')) {
    object.leave('identifier', 'original_author_id')
    return restUser(object.object('user'))
  }
  if (object.has('user')) findings.notCarried('imported_by', ['user'])
  object.take('user')
  return { poster_id: object.number('original_author_id'), poster_name: object.text('original_author') }
}
