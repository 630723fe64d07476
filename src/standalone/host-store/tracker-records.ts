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
  ReactionRow,
  TrackedIssueRow,
} from './tracker-queries.ts'

/** The rows that belong to one issue. */
export interface IssueParts {
  readonly labels: readonly IssueLabelRow[]
  readonly assignees: readonly AssigneeNameRow[]
  readonly reactions: readonly ReactionRow[]
}

/**
 * Converts rows to an issue record. An issue that was imported has the author that the document named, any other its
 * poster.
 *
 * @param showsEmail - whether the caller may see e-mail addresses
 */
export function issueRecordOf(
  row: TrackedIssueRow,
  { labels, assignees, reactions }: IssueParts,
  showsEmail: boolean,
): IssueRecord {
  const [created, updated, closed] = offsetsIn(row.offsets)
  return {
    number: row.issue_index,
    ...authorOf(row, showsEmail),
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

function authorOf(row: TrackedIssueRow, showsEmail: boolean): Author {
  const { author_id, author_name, author_email } = row
  if (author_id !== null && author_name !== null) return named(author_id, author_name, showsEmail && author_email)
  return named(Number(row.poster_id), row.poster_name, showsEmail && row.poster_hides_email === 0 && row.poster_email)
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
