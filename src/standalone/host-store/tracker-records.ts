import type {
  CommentRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  ReactionRecord,
} from '../../schema/issue-record.ts'
import { offsetsIn, timeText } from './time-text.ts'
import type {
  AssigneeNameRow,
  CommentRow,
  IssueLabelRow,
  MilestoneRow,
  PosterRow,
  ReactionRow,
  TrackedIssueRow,
} from './tracker-queries.ts'

/** The rows that belong to one issue. */
export interface IssueParts {
  /** Undefined: the issue was imported, and its author is in its row. */
  readonly poster: PosterRow | undefined
  readonly labels: readonly IssueLabelRow[]
  readonly assignees: readonly AssigneeNameRow[]
  readonly reactions: readonly ReactionRow[]
}

/**
 * Converts rows to an issue record. An issue that was imported has the author that the document named, any other its
 * poster. Returns undefined if the issue was deleted after its row was read, so that its poster was not found.
 *
 * @param showsEmail - whether the caller may see e-mail addresses
 */
export function issueRecordOf(
  row: TrackedIssueRow,
  { poster, labels, assignees, reactions }: IssueParts,
  showsEmail: boolean,
): IssueRecord | undefined {
  const author = authorOf(row, poster, showsEmail)
  if (author === undefined) return undefined

  const [created, updated, closed] = offsetsIn(row.offsets)
  return {
    number: row.issue_index,
    ...author,
    title: row.title,
    content: row.body,
    ...(row.ref && { ref: row.ref }),
    ...(row.milestone && { milestone: row.milestone }),
    state: row.state,
    is_locked: row.is_locked === 1,
    created: timeText(row.created_at, created),
    updated: timeText(row.updated_at, updated),
    ...(row.closed_at !== null && { closed: timeText(row.closed_at, closed) }),
    ...(labels.length > 0 && { labels: labels.map(labelRecordOf) }),
    ...(reactions.length > 0 && { reactions: reactions.map(reactionRecordOf) }),
    ...(assignees.length > 0 && { assignees: assignees.map(({ name }) => name) }),
  }
}

type Author = Pick<IssueRecord, 'poster_id' | 'poster_name' | 'poster_email'>

function authorOf(row: TrackedIssueRow, poster: PosterRow | undefined, showsEmail: boolean): Author | undefined {
  const { author_id, author_name, author_email } = row
  if (author_id !== null && author_name !== null) return named(author_id, author_name, showsEmail && author_email)
  if (poster !== undefined) {
    return named(Number(poster.id), poster.name, showsEmail && poster.hides_email === 0 && poster.email)
  }
  return undefined
}

function named(poster_id: number, poster_name: string, poster_email: string | false | null): Author {
  return { poster_id, poster_name, ...(poster_email && { poster_email }) }
}

/** Converts rows to a comment record. */
export function commentRecordOf(
  row: CommentRow,
  reactions: readonly ReactionRow[],
  showsEmail: boolean,
): CommentRecord {
  const [created, updated] = offsetsIn(row.offsets)
  return {
    issue_number: row.issue_index,
    ...named(row.author_id, row.author_name, showsEmail && row.author_email),
    created: timeText(row.created_at, created),
    updated: timeText(row.updated_at, updated),
    content: row.content,
    ...(reactions.length > 0 && { reactions: reactions.map(reactionRecordOf) }),
  }
}

/** Converts a row to a label record. */
export function labelRecordOf({ name, color, description }: Omit<IssueLabelRow, 'issue_id'>): LabelRecord {
  return { name, ...(color && { color }), ...(description && { description }) }
}

/** Converts a row to a milestone record. */
export function milestoneRecordOf(row: MilestoneRow): MilestoneRecord {
  const { title, description, state, deadline, created_at, updated_at, closed_at } = row
  const [ofDeadline, ofCreated, ofUpdated, ofClosed] = offsetsIn(row.offsets)
  return {
    title,
    ...(description && { description }),
    ...(deadline !== null && { deadline: timeText(deadline, ofDeadline) }),
    ...(created_at !== null && { created: timeText(created_at, ofCreated) }),
    ...(updated_at !== null && { updated: timeText(updated_at, ofUpdated) }),
    ...(closed_at !== null && { closed: timeText(closed_at, ofClosed) }),
    state,
  }
}

function reactionRecordOf({ user_id, user_name, content }: ReactionRow): ReactionRecord {
  return { user_id, ...(user_name && { user_name }), content }
}
