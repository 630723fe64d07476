import type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  ReactionRecord,
} from '../../schema/issue-record.ts'
import type { ConvertedBatch } from '../documents/converted-batch.ts'
import { ConversionState } from './conversion-state.ts'
import type { ForeignObject, Words } from './foreign-object.ts'
import { hasProperties, readObject } from './foreign-object.ts'
import type { Conversion, ConversionOptions, Findings, FolderReading, ForgeFormat } from './forge-format.ts'
import { fileNamed, reportLinks } from './forge-format.ts'

/** An unpacked project export of GitLab. Its issues alone are a list without the names of users. */
export const gitlabFormat: ForgeFormat = {
  name: 'gitlab',
  recognizes: (record) => hasProperties(record, 'iid', 'author_id', 'created_at'),
  open: (options) => new GitlabIssues(new ConversionState(), new People(), options),
  folder: { issuesFile: (names) => fileNamed(names, ISSUES), read: readFolder },
}

const ISSUES = 'issues.ndjson'
const ISSUE_WORDS: Words = {
  closed_by_id: 'closed_by',
  design_versions: 'design',
  designs: 'design',
  due_date: 'due_date',
  duplicated_to_id: 'related_issue',
  epic_issue: 'epic',
  events: 'event',
  external_key: 'identifier',
  health_status: 'health_status',
  id: 'identifier',
  issue_type: 'issue_type',
  iteration: 'iteration',
  last_edited_at: 'last_edit',
  last_edited_by_id: 'last_edit',
  lock_version: 'statistics',
  merge_requests_closing_issues: 'pull_request',
  milestone_id: 'identifier',
  moved_to_id: 'related_issue',
  project_id: 'identifier',
  promoted_to_epic_id: 'epic',
  relative_position: 'position',
  resource_iteration_events: 'event',
  resource_label_events: 'event',
  resource_milestone_events: 'event',
  resource_state_events: 'event',
  sentry_issue: 'error_tracking',
  service_desk_reply_to: 'service_desk',
  sprint_id: 'iteration',
  start_date: 'start_date',
  state_id: 'identifier',
  time_estimate: 'time_estimate',
  timelogs: 'time_log',
  updated_by_id: 'last_edit',
  upvotes_count: 'statistics',
  weight: 'weight',
  work_item_type: 'issue_type',
  zoom_meetings: 'meeting',
}
const NOTE_WORDS: Words = {
  attachment: 'attachment',
  author: 'profile',
  change_position: 'position',
  commit_id: 'identifier',
  discussion_id: 'thread',
  events: 'event',
  id: 'identifier',
  imported_from: 'identifier',
  last_edited_at: 'last_edit',
  line_code: 'position',
  noteable_id: 'identifier',
  noteable_type: 'identifier',
  original_position: 'position',
  position: 'position',
  project_id: 'identifier',
  resolved_at: 'resolution',
  resolved_by_id: 'resolution',
  resolved_by_push: 'resolution',
  st_diff: 'position',
  suggestions: 'suggestion',
  type: 'thread',
  updated_by_id: 'last_edit',
}
const LABEL_WORDS: Words = {
  archived: 'archived_label',
  created_at: 'label_time',
  group_id: 'identifier',
  id: 'identifier',
  lock_on_merge: 'label_lock',
  priorities: 'label_priority',
  project_id: 'identifier',
  template: 'label_template',
  text_color: 'label_text_color',
  type: 'identifier',
  updated_at: 'label_time',
}
const MILESTONE_WORDS: Words = {
  events: 'event',
  group_id: 'identifier',
  id: 'identifier',
  iid: 'identifier',
  project_id: 'identifier',
  start_date: 'start_date',
}
const AWARD_WORDS: Words = {
  awardable_id: 'identifier',
  awardable_type: 'identifier',
  created_at: 'reaction_time',
  id: 'identifier',
  updated_at: 'reaction_time',
}

const ISSUE_STATES: ReadonlyMap<string, IssueRecord['state']> = new Map([
  ['opened', 'open'],
  ['closed', 'closed'],
])
const MILESTONE_STATES: ReadonlyMap<string, MilestoneRecord['state']> = new Map([
  ['active', 'open'],
  ['closed', 'closed'],
])
/** Names of reactions that differ in Gitea. Others are the same. */
const REACTIONS: ReadonlyMap<string, string> = new Map([
  ['thumbsup', '+1'],
  ['thumbsdown', '-1'],
  ['tada', 'hooray'],
  ['laughing', 'laugh'],
])
const ATTACHMENT = /\/uploads\/[0-9a-f]{32}\//g

async function* readFolder(folder: FolderReading): AsyncGenerator<ConvertedBatch, void, void> {
  const issuesFile = fileNamed(folder.names, ISSUES) ?? ISSUES
  const root = issuesFile.slice(0, -ISSUES.length)
  const state = new ConversionState()
  const people = new People()
  const lists: readonly (readonly [name: string, conversion: Conversion])[] = [
    ['project_members.ndjson', people],
    ['labels.ndjson', labelConversion(state)],
    ['milestones.ndjson', milestoneConversion(state)],
    [ISSUES, new GitlabIssues(state, people, folder.options)],
  ]
  const unread = new Set(folder.names)
  for (const [name, conversion] of lists) {
    if (unread.delete(`${root}${name}`)) yield* folder.read(`${root}${name}`, conversion)
  }
  for (const name of unread) folder.leave(name === `${root}merge_requests.ndjson` ? 'pull_request' : 'file', name)
}

/** The members of a project. The other records have only the ids of users. */
class People implements Conversion {
  readonly #names = new Map<number, { readonly name: string; readonly email: string | undefined }>()

  convert(record: unknown, findings: Findings): readonly ExchangeRecord[] {
    const member = readObject(record, [], findings)
    const user = member?.object('user')
    if (user !== undefined) {
      this.#names.set(user.number('id'), { name: user.text('username'), email: user.optionalText('public_email') })
      user.reportRest('profile')
    }
    member?.reportRest('membership')
    return []
  }

  /** Returns a name for each user. Who left the project is not among its members. */
  poster(id: number, object: ForeignObject, findings: Findings): ReturnType<typeof posterWith> {
    const known = this.#names.get(id)
    if (known === undefined) findings.notCarried('user_name', object.path)
    return posterWith(id, known?.name, known?.email)
  }

  name(id: number): string | undefined {
    return this.#names.get(id)?.name
  }
}

function posterWith(
  id: number,
  name: string | undefined,
  poster_email: string | undefined,
): Pick<IssueRecord, 'poster_id' | 'poster_name' | 'poster_email'> {
  return { poster_id: id, poster_name: name ?? unknownName(id), ...(poster_email !== undefined && { poster_email }) }
}

/** A name for a user who has none in the source. It differs from user to user, so that a map of names can replace it. */
function unknownName(id: number): string {
  return id === 0 ? 'ghost' : `user-${id}`
}

class GitlabIssues implements Conversion {
  readonly #state: ConversionState
  readonly #people: People
  readonly #keepsConfidential: boolean

  constructor(state: ConversionState, people: People, { confidential }: ConversionOptions) {
    this.#state = state
    this.#people = people
    this.#keepsConfidential = confidential === 'keep'
  }

  convert(record: unknown, findings: Findings): readonly ExchangeRecord[] {
    const object = readObject(record, [], findings)
    if (object === undefined || this.#isLeftOut(object, findings)) return []

    const milestone = object.object('milestone')
    const milestoneRecord = milestone && milestoneOf(milestone)
    const closed = object.optionalTime('closed_at')
    const content = object.textOrEmpty('description')
    reportLinks(ATTACHMENT, content, ['description'], findings)
    const number = object.number('iid')
    const issue: IssueRecord = {
      number,
      ...this.#poster(object, findings),
      title: object.text('title'),
      content,
      ...(milestoneRecord && { milestone: milestoneRecord.title }),
      state: object.choice('state', ISSUE_STATES, 'open'),
      is_locked: object.flag('discussion_locked'),
      created: object.time('created_at'),
      updated: object.time('updated_at'),
      ...(closed !== undefined && { closed }),
      labels: this.#labels(object, findings),
      reactions: this.#reactions(object),
      assignees: this.#assignees(object, findings),
    }
    const comments = object.objects('notes').flatMap((note) => this.#comment(number, note, findings))
    object.reportRest(ISSUE_WORDS)
    const milestones = milestone && milestoneRecord && this.#state.milestone(milestoneRecord, milestone.path, findings)
    return [...(milestones ?? []), { kind: 'issue', issue }, ...comments]
  }

  carried(records: readonly ExchangeRecord[]): void {
    this.#state.carried(records)
  }

  /** Reports what not every reader may see, also where it is kept: exchange records do not say so. */
  #isLeftOut(object: ForeignObject, findings: Findings): boolean {
    const names = ['confidential', 'internal'].filter((name) => object.flag(name))
    if (names.length > 0) findings.notCarried('confidential', object.path)
    return names.length > 0 && !this.#keepsConfidential
  }

  #poster(object: ForeignObject, findings: Findings): ReturnType<typeof posterWith> {
    return this.#people.poster(object.numberOrZero('author_id'), object, findings)
  }

  #labels(object: ForeignObject, findings: Findings): LabelRecord[] {
    return object.objects('label_links').flatMap((link) => {
      const label = link.object('label')
      link.reportRest('identifier')
      return label === undefined ? [] : [labelOf(label, this.#state, findings)]
    })
  }

  #reactions(object: ForeignObject): ReactionRecord[] {
    return object.objects('award_emoji').map((award) => {
      const [name, user_id] = [award.text('name'), award.number('user_id')]
      const user_name = this.#people.name(user_id)
      award.reportRest(AWARD_WORDS)
      return { user_id, ...(user_name !== undefined && { user_name }), content: REACTIONS.get(name) ?? name }
    })
  }

  /** The same user may occur several times. */
  #assignees(object: ForeignObject, findings: Findings): string[] {
    const names = object.objects('issue_assignees').map((assignee) => {
      const id = assignee.number('user_id')
      const name = this.#people.name(id)
      if (name === undefined) findings.notCarried('user_name', assignee.path)
      assignee.reportRest('identifier')
      return name ?? unknownName(id)
    })
    return [...new Set(names)]
  }

  #comment(issue_number: number, note: ForeignObject, findings: Findings): readonly ExchangeRecord[] {
    if (note.flag('system')) {
      findings.notCarried('system_note', note.path)
      return []
    }
    if (this.#isLeftOut(note, findings)) return []

    const content = note.textOrEmpty('note')
    reportLinks(ATTACHMENT, content, [...note.path, 'note'], findings)
    const comment: CommentRecord = {
      issue_number,
      ...this.#poster(note, findings),
      created: note.time('created_at'),
      updated: note.time('updated_at'),
      content,
      reactions: this.#reactions(note),
    }
    note.reportRest(NOTE_WORDS)
    return [{ kind: 'comment', comment }]
  }
}

function labelConversion(state: ConversionState): Conversion {
  return {
    convert(record, findings) {
      const object = readObject(record, [], findings)
      return object === undefined ? [] : [{ kind: 'label', label: labelOf(object, state, findings) }]
    },
  }
}

function milestoneConversion(state: ConversionState): Conversion {
  return {
    convert(record, findings) {
      const object = readObject(record, [], findings)
      return object === undefined ? [] : state.milestone(milestoneOf(object), [], findings)
    },
    carried: (records) => state.carried(records),
  }
}

function labelOf(object: ForeignObject, state: ConversionState, findings: Findings): LabelRecord {
  const name = object.text('title')
  const color = object.optionalText('color')?.replace(/^#/, '')
  const description = object.optionalText('description')
  object.reportRest(LABEL_WORDS)
  const label = { name, ...(color !== undefined && { color }), ...(description !== undefined && { description }) }
  return state.labels.of(name, label, object.path, findings)
}

function milestoneOf(object: ForeignObject): MilestoneRecord {
  const description = object.optionalText('description')
  const [created, updated] = [object.optionalTime('created_at'), object.optionalTime('updated_at')]
  const deadline = object.optionalDate('due_date')
  const milestone: MilestoneRecord = {
    title: object.text('title'),
    ...(description !== undefined && { description }),
    ...(deadline !== undefined && { deadline }),
    ...(created !== undefined && { created }),
    ...(updated !== undefined && { updated }),
    state: object.choice('state', MILESTONE_STATES, 'open'),
  }
  object.reportRest(MILESTONE_WORDS)
  return milestone
}
