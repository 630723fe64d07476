import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { assigneesOf, commentOf, hasProperties, issueOf, objectOf, posterOf, says, textOf } from './foreign.ts'
import type { ForgeFormat } from './forge-format.ts'

/** Issues of GitLab's REST API, alone or in a folder with the list of notes. */
export const gitlabRestFormat: ForgeFormat = {
  recognizes: (record) => hasProperties(record, 'iid', 'author', 'created_at') && !hasProperties(record, 'author_id'),
  repeatsBy: 'iid',
  convert: listedIssue,
  comments: { file: 'notes.json', convert: listedNote },
}

function listedIssue(record: Foreign, at: Findings): readonly Made[] {
  if (hasProperties(record, 'source_branch')) return at.leave('pull_request') // its number is one of another series
  if (isHidden(record, at)) return []

  const { author, labels, assignee, assignees, user_notes_count: count, upvotes, downvotes, ...issue } = record
  at.expect('comments', 'user_notes_count', count)
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
  if (noteable_type !== 'Issue') return at.leave('comments')
  if (at.lacksIssue(issue_number)) return []
  return isNoComment(note, at) ? [] : [gitlabComment({ issue_number, ...authorOf(author) }, note, 'body', at)]
}

function authorOf(user: unknown): Foreign {
  return posterOf(user, 'username', 'public_email')
}

// What the project export of GitLab and its REST lists have in common.

/** A text of GitLab links to an attachment by a hash. */
const ATTACHMENT = /\/uploads\/[0-9a-f]{32}\//g
/** What follows from other properties, or concerns only who asked for a list. */
const DERIVED = new Set([
  ...['type', 'references', 'subscribed', 'has_tasks', 'task_status', 'task_completion_status'],
  ...['expired', 'description_html', 'text_color', 'textColor', 'noteable_type'],
])
/** What GitLab writes for every issue that has nothing else there. */
const DEFAULTS: Foreign = { issue_type: 'issue', severity: 'UNKNOWN', imported_from: 'none' }

/** Whether a property says nothing of its own; its type is that an issue is an issue, and not an incident or a task. */
function isPlain(name: string, value: unknown): boolean {
  if (name === 'work_item_type') return objectOf(value)['base_type'] === 'issue'
  return DERIVED.has(name) || DEFAULTS[name] === value
}

/** Whether not every reader may see an issue or a note. */
export function isHidden({ iid, confidential, internal }: Foreign, at: Findings): boolean {
  return at.isLeftOut(says(confidential) || says(internal), iid)
}

/** Returns an issue, behind its milestone. @param lists - its labels, reactions and assignees */
export function gitlabIssue(record: Foreign, author: Foreign, lists: Foreign, at: Findings): readonly Made[] {
  const { iid: number, title, description: content, state, discussion_locked: is_locked, milestone, ...others } = record
  const { created_at: created, updated_at: updated, closed_at: closed, _links: links, ...more } = others
  const { confidential: _, internal: __, ...rest } = more
  at.leaveLinks(ATTACHMENT, 'description', content)
  if (says(objectOf(links)['closed_as_duplicate_of']))
    at.notCarried('duplicate_of', ['_links', 'closed_as_duplicate_of'])
  at.leaveRest(rest, isPlain)
  const before = says(milestone) ? gitlabMilestone(objectOf(milestone), at.within('milestone')) : []
  const { title: named } = objectOf(milestone)
  const of = { number, title, content, milestone: named, closed, state, is_locked, created, updated }
  return [...before, issueOf(of, author, lists)]
}

/** Whether a note is no comment, or not every reader may see it. */
export function isNoComment(note: Foreign, at: Findings): boolean {
  if (says(note['system'])) {
    at.notCarried('system_note')
    return true
  }
  at.found('comments')
  return isHidden(note, at)
}

/** Returns a comment. @param head - its issue, its author and its reactions @param text - the property that has its text */
export function gitlabComment(head: Foreign, note: Foreign, text: 'note' | 'body', at: Findings): Made {
  const { [text]: content, created_at: created, updated_at: updated, discussion_id, ...others } = note
  const { system: _, confidential: __, internal: ___, ...rest } = others
  const { issue_number, reactions } = head
  if (says(discussion_id) && at.state.isAnswer(issue_number, discussion_id)) at.notCarried('thread', ['discussion_id'])
  at.leaveLinks(ATTACHMENT, text, content)
  at.leaveRest(rest, isPlain)
  return commentOf({ issue_number, created, updated, content }, head, reactions === undefined ? {} : { reactions })
}

/** Returns a label, or the first one of its name. @param named - the property that has the name */
export function gitlabLabel(label: unknown, named: 'name' | 'title', at: Findings): Foreign {
  const { [named]: name, color: given, description, created_at: _, updated_at: __, ...rest } = objectOf(label)
  const color = typeof given === 'string' ? given.replace(/^#/, '') : given
  at.leaveRest(rest, isPlain)
  return at.label({ name, color, description })
}

/** Returns a milestone, unless it was carried before. */
export function gitlabMilestone(record: Foreign, at: Findings): readonly Made[] {
  const { title, description, due_date, created_at: created, updated_at: updated, state, ...rest } = record
  at.leaveRest(rest, isPlain)
  const deadline = says(due_date) ? `${textOf(due_date)}T00:00:00Z` : undefined
  return at.milestone({ title, description, deadline, created, updated, state })
}
