import { canonicalIssue } from '../../schema/canonical-issue.ts'
import { canonicalDateTime } from '../../schema/date-time.ts'
import type {
  CommentRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  ReactionRecord,
} from '../../schema/issue-record.ts'

/** What Go writes for a time that is not set. */
export const NO_TIME = '0001-01-01T00:00:00Z'

/** An issue as a Gitea dump has it: every property, also where it is empty. */
export function dumpIssue(issue: IssueRecord): object {
  const { number, labels = [], reactions = [], ...canonical } = canonicalIssue(issue)
  const lists = { labels: labels.map(dumpLabel), reactions: reactions.map(dumpReaction), foreignindex: number }
  return { number, poster_email: '', ref: '', milestone: '', closed: null, assignees: [], ...canonical, ...lists }
}

/** A label as a Gitea dump has it. */
export function dumpLabel({ name, color = '', description = '' }: LabelRecord): object {
  return { name, color, description, exclusive: false }
}

/** A milestone as a Gitea dump has it. */
export function dumpMilestone({ title, description = '', state, ...times }: MilestoneRecord): object {
  const { deadline, created, updated, closed } = times
  return {
    title,
    description,
    deadline: timeOf(deadline),
    created: timeOf(created) ?? NO_TIME,
    updated: timeOf(updated),
    closed: timeOf(closed),
    state,
  }
}

/** A comment as a Gitea dump has it. */
export function dumpComment(comment: CommentRecord): object {
  return {
    issue_index: comment.issue_number,
    index: 0,
    comment_type: '',
    poster_id: comment.poster_id,
    poster_name: comment.poster_name,
    poster_email: comment.poster_email ?? '',
    created: canonicalDateTime(comment.created),
    updated: canonicalDateTime(comment.updated),
    content: comment.content,
    reactions: (comment.reactions ?? []).map(dumpReaction),
  }
}

/** Go reads neither a leap second nor a small `t` or `z`. */
function timeOf(time: string | null | undefined): string | null {
  return time ? canonicalDateTime(time) : null
}

function dumpReaction({ user_id, user_name = '', content }: ReactionRecord): object {
  return { user_id, user_name, content }
}
