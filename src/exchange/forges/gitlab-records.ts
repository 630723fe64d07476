import type { Path } from '../documents/source-record.ts'
import type { ConversionState } from './conversion-state.ts'
import { filled, leaveRest, objectOf, says } from './foreign.ts'
import type { ConversionOptions, Findings, Foreign, Made } from './forge-format.ts'
import { reportLinks } from './forge-format.ts'

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
export function leaveOthers(rest: Foreign, path: Path, findings: Findings): void {
  const others = Object.entries(rest).filter(
    ([name, value]) => !DERIVED.has(name) && DEFAULTS[name] !== value && !isPlainType(name, value),
  )
  leaveRest(Object.fromEntries(others), path, findings)
}

/** Returns whether a property says that an issue is an issue, and not an incident or a task. */
function isPlainType(name: string, value: unknown): boolean {
  return name === 'work_item_type' && objectOf(value)['base_type'] === 'issue'
}

/** Whether not every reader may see a record. It is reported also where it is kept: exchange records do not say so. */
export function isLeftOut(
  { iid, confidential, internal }: Foreign,
  path: Path,
  options: ConversionOptions,
  findings: Findings,
): boolean {
  if (!says(confidential) && !says(internal)) return false
  findings.notCarried('confidential', path)
  if (options.confidential === 'keep') return false
  findings.leftOut(iid) // a note has none
  return true
}

/** Returns an issue, behind its milestone. @param people - its author and its lists */
export function issueOf(record: Foreign, people: Foreign, state: ConversionState, findings: Findings): readonly Made[] {
  const { iid, title, description, state: status, discussion_locked, milestone, created_at, ...others } = record
  const { updated_at, closed_at, confidential: _, internal: __, _links: links, ...rest } = others
  reportLinks(ATTACHMENT, description, ['description'], findings)
  if (says(objectOf(links)['closed_as_duplicate_of'])) {
    findings.notCarried('duplicate_of', ['_links', 'closed_as_duplicate_of'])
  }
  leaveOthers(rest, [], findings)
  const issue = {
    number: iid,
    ...people,
    title,
    content: description ?? '',
    ...filled({ milestone: objectOf(milestone)['title'], closed: closed_at }),
    state: STATES.get(status) ?? status,
    is_locked: discussion_locked ?? false,
    created: created_at,
    updated: updated_at,
  }
  const before = says(milestone) ? milestoneOf(objectOf(milestone), ['milestone'], state, findings) : []
  return [...before, { kind: 'issue', issue }]
}

/** Whether a note is no comment, or not every reader may see it. */
export function isNoteLeftOut(note: Foreign, path: Path, options: ConversionOptions, findings: Findings): boolean {
  if (!says(note['system'])) return isLeftOut(note, path, options, findings)
  findings.notCarried('system_note', path)
  return true
}

/**
 * Returns a comment.
 * @param head - its issue and its author
 * @param text - the name of the property with its text
 * @param threads - the discussions of its issue so far: a comment in one of them is an answer
 */
export function commentOf(
  head: Foreign,
  note: Foreign,
  text: 'note' | 'body',
  path: Path,
  findings: Findings,
  threads: Set<unknown>,
  lists: Foreign = {},
): Made {
  const { [text]: content, created_at: created, updated_at: updated, discussion_id, ...others } = note
  const { system: _, confidential: __, internal: ___, ...rest } = others
  if (says(discussion_id)) {
    if (threads.has(discussion_id)) findings.notCarried('thread', [...path, 'discussion_id'])
    threads.add(discussion_id)
  }
  reportLinks(ATTACHMENT, content, [...path, text], findings)
  leaveOthers(rest, path, findings)
  return { kind: 'comment', comment: { ...head, created, updated, content: content ?? '', ...lists } }
}

/** Returns a label, or the first one of its name. @param named - the property that has the name */
export function labelOf(
  record: Foreign,
  named: 'name' | 'title',
  path: Path,
  state: ConversionState,
  findings: Findings,
): unknown {
  const { [named]: name, color, description, created_at: _, updated_at: __, ...rest } = record
  leaveOthers(rest, path, findings)
  const bare = typeof color === 'string' ? color.replace(/^#/, '') : color
  return state.label({ name, ...filled({ color: bare, description }) }, path, findings)
}

/** Returns a milestone, unless it was carried before. */
export function milestoneOf(record: Foreign, path: Path, state: ConversionState, findings: Findings): readonly Made[] {
  const { title, description, due_date, created_at: created, updated_at: updated, state: status, ...rest } = record
  leaveOthers(rest, path, findings)
  const deadline = says(due_date) ? `${String(due_date)}T00:00:00Z` : undefined
  const filledTimes = filled({ description, deadline, created, updated })
  return state.milestone({ title, ...filledTimes, state: STATES.get(status) ?? status }, path, findings)
}
