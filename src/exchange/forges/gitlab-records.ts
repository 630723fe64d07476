import type { ConversionState } from './conversion-state.ts'
import { commentOf, filled, issueOf, leaveRest, objectOf, says, textOf } from './foreign.ts'
import type { ConversionOptions, Findings, Foreign, Made } from './forge-format.ts'
import { isLeftOut, reportLinks, within } from './forge-format.ts'

// What the project export of GitLab and its REST lists have in common.

/** A text of GitLab links to an attachment by a hash. */
const ATTACHMENT = /\/uploads\/[0-9a-f]{32}\//g
/** The states of issues and milestones that have another name here. */
const STATES: ReadonlyMap<unknown, string> = new Map([
  ['opened', 'open'],
  ['active', 'open'],
])
/** What follows from other properties, or concerns only who asked for a list. */
const DERIVED = new Set([
  ...['type', 'references', 'subscribed', 'has_tasks', 'task_status', 'task_completion_status'],
  ...['expired', 'description_html', 'text_color', 'textColor', 'noteable_type'],
])
/** What GitLab writes for every issue that has nothing else there. */
const DEFAULTS: Foreign = { issue_type: 'issue', severity: 'UNKNOWN', imported_from: 'none' }

/** Reports the properties that a conversion did not name, without those that say nothing of their own. */
export function leaveOthers(rest: Foreign, findings: Findings): void {
  const others = Object.entries(rest).filter(
    ([name, value]) => !DERIVED.has(name) && DEFAULTS[name] !== value && !isPlainType(name, value),
  )
  leaveRest(Object.fromEntries(others), findings)
}

/** Returns whether a property says that an issue is an issue, and not an incident or a task. */
function isPlainType(name: string, value: unknown): boolean {
  return name === 'work_item_type' && objectOf(value)['base_type'] === 'issue'
}

/** Whether not every reader may see an issue or a note. */
export function isHidden(record: Foreign, options: ConversionOptions, findings: Findings): boolean {
  const { iid, confidential, internal } = record
  return isLeftOut(says(confidential) || says(internal), iid, options, findings)
}

/** Whether a note is no comment, or not every reader may see it. */
export function isNoComment(note: Foreign, options: ConversionOptions, findings: Findings): boolean {
  if (!says(note['system'])) return isHidden(note, options, findings)
  findings.notCarried('system_note', [])
  return true
}

/** Returns an issue, behind its milestone. */
export function gitlabIssue(
  record: Foreign,
  author: Foreign,
  lists: Foreign,
  known: ConversionState,
  findings: Findings,
): readonly Made[] {
  const { iid: number, title, description: content, state: given, discussion_locked: is_locked, ...others } = record
  const { milestone, created_at: created, updated_at: updated, closed_at: closed, _links: links, ...more } = others
  const { confidential: _, internal: __, ...rest } = more
  reportLinks(ATTACHMENT, content, ['description'], findings)
  if (says(objectOf(links)['closed_as_duplicate_of'])) {
    findings.notCarried('duplicate_of', ['_links', 'closed_as_duplicate_of'])
  }
  leaveOthers(rest, findings)
  const { title: named } = objectOf(milestone)
  const state = STATES.get(given) ?? given
  const of = { number, title, content, milestone: named, closed, state, is_locked, created, updated }
  const before = says(milestone) ? milestoneOf(objectOf(milestone), known, within(findings, ['milestone'])) : []
  return [...before, issueOf(of, author, lists)]
}

/**
 * Returns a comment.
 * @param head - its issue and its author, and its lists
 * @param text - the name of the property with its text
 * @param threads - the discussions of its issue so far: a comment in one of them is an answer
 */
export function gitlabComment(
  head: Foreign,
  note: Foreign,
  text: 'note' | 'body',
  threads: Set<unknown>,
  findings: Findings,
): Made {
  const { [text]: content, created_at: created, updated_at: updated, discussion_id, ...others } = note
  const { system: _, confidential: __, internal: ___, ...rest } = others
  if (says(discussion_id)) {
    if (threads.has(discussion_id)) findings.notCarried('thread', ['discussion_id'])
    threads.add(discussion_id)
  }
  reportLinks(ATTACHMENT, content, [text], findings)
  leaveOthers(rest, findings)
  const { issue_number, lists } = head
  return commentOf({ issue_number, created, updated, content }, head, objectOf(lists))
}

/** Returns a label, or the first one of its name. @param named - the property that has the name */
export function labelOf(record: Foreign, named: 'name' | 'title', state: ConversionState, findings: Findings): unknown {
  const { [named]: name, color, description, created_at: _, updated_at: __, ...rest } = record
  leaveOthers(rest, findings)
  const bare = typeof color === 'string' ? color.replace(/^#/, '') : color
  return state.label({ name, ...filled({ color: bare, description }) }, findings)
}

/** Returns a milestone, unless it was carried before. */
export function milestoneOf(record: Foreign, state: ConversionState, findings: Findings): readonly Made[] {
  const { title, description, due_date, created_at: created, updated_at: updated, state: status, ...rest } = record
  leaveOthers(rest, findings)
  const deadline = says(due_date) ? `${textOf(due_date)}T00:00:00Z` : undefined
  const optional = filled({ description, deadline, created, updated })
  return state.milestone({ title, ...optional, state: STATES.get(status) ?? status }, findings)
}
