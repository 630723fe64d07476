import { isObject, need } from './arguments.ts'
import { canonicalDateTime } from './date-time.ts'
import type { IssueRecord, LabelRecord, MilestoneRecord, ReactionRecord } from './issue-record.ts'

/**
 * Returns the one form that an issue has in canonical documents: properties in the order of the schema, optional ones
 * that are empty left out, times in UTC. Two issues are the same if their canonical forms are equal.
 * Source: docs/exchange.md, The canonical document
 *
 * @throws TypeError when the issue is not an object
 */
export function canonicalIssue(issue: IssueRecord): IssueRecord {
  need(isObject(issue), 'canonicalIssue', 'an issue record', 'an object')
  const { poster_email, ref, milestone, closed, labels, reactions, assignees } = issue
  return {
    number: issue.number,
    poster_id: issue.poster_id,
    poster_name: issue.poster_name,
    ...(poster_email && { poster_email }),
    title: issue.title,
    content: issue.content,
    ...(ref && { ref }),
    ...(milestone && { milestone }),
    state: issue.state,
    is_locked: issue.is_locked,
    created: canonicalDateTime(issue.created),
    updated: canonicalDateTime(issue.updated),
    ...(closed && { closed: canonicalDateTime(closed) }),
    ...(labels?.length && { labels: labels.map(canonicalLabel) }),
    ...(reactions?.length && { reactions: reactions.map(canonicalReaction) }),
    ...(assignees?.length && { assignees: [...assignees] }),
  }
}

/** Returns the canonical form of a label: a tracker keeps labels in it, so that an import of the same changes nothing. */
export function canonicalLabel({ name, color, description }: LabelRecord): LabelRecord {
  return { name, ...(color && { color }), ...(description && { description }) }
}

/** Returns the canonical form of a milestone, with the same rules as those of an issue. */
export function canonicalMilestone({ title, description, state, ...times }: MilestoneRecord): MilestoneRecord {
  const { deadline, created, updated, closed } = times
  return {
    title,
    ...(description && { description }),
    ...(deadline && { deadline: canonicalDateTime(deadline) }),
    ...(created && { created: canonicalDateTime(created) }),
    ...(updated && { updated: canonicalDateTime(updated) }),
    ...(closed && { closed: canonicalDateTime(closed) }),
    state,
  }
}

/** Returns the canonical form of a reaction to an issue or a comment. */
export function canonicalReaction({ user_id, user_name, content }: ReactionRecord): ReactionRecord {
  return { user_id, ...(user_name && { user_name }), content }
}
