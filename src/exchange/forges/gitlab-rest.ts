import type { Findings } from './findings.ts'
import { assigneesOf, hasProperties, posterOf } from './foreign.ts'
import type { Foreign, ForgeFormat, Made } from './forge-format.ts'
import { gitlabComment, gitlabIssue, gitlabLabel, isHidden, isNoComment } from './gitlab-records.ts'

const NOTES = 'notes.json'

/** Issues of GitLab's REST API, alone or in a folder with the list of notes. */
export const gitlabRestFormat: ForgeFormat = {
  name: 'gitlab-rest',
  recognizes: (record) => hasProperties(record, 'iid', 'author', 'created_at') && !hasProperties(record, 'author_id'),
  repeatsBy: 'iid',
  convert: listedIssue,
  comments: { file: NOTES, convert: listedNote },
}

function listedIssue(record: Foreign, at: Findings): readonly Made[] {
  if (isHidden(record, at)) return []

  const { author, labels, assignee, assignees, user_notes_count: count, upvotes, downvotes, ...issue } = record
  if (!at.state.files.has(NOTES)) at.leaveAll('comments', 'user_notes_count', count)
  at.leaveAll('reactions', 'upvotes', upvotes)
  at.leaveAll('reactions', 'downvotes', downvotes)
  const lists = {
    // A label is its name alone, or an object if the list was asked for with `with_labels_details`.
    labels: at.each('labels', labels, (label, ofLabel) =>
      typeof label === 'string' ? { name: label } : gitlabLabel(label, 'name', ofLabel),
    ),
    assignees: assigneesOf({ assignees, assignee }, 'username'),
  }
  return gitlabIssue(issue, authorOf(author), lists, at)
}

function listedNote(record: Foreign, at: Findings): readonly Made[] {
  const { noteable_iid: issue_number, author, ...note } = record
  const { noteable_type = 'Issue' } = note
  if (noteable_type === 'MergeRequest') return at.leave('pull_request_comments')
  if (noteable_type !== 'Issue' || (typeof issue_number === 'number' && !at.state.hasIssue(issue_number))) {
    return at.leave('comments')
  }
  return isNoComment(note, at) ? [] : [gitlabComment({ issue_number, ...authorOf(author) }, note, 'body', at)]
}

function authorOf(user: unknown): Foreign {
  return posterOf(user, 'username', 'public_email')
}
