import { GHOST } from '../../schema/placeholder-names.ts'
import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { commentOf, hasProperties, issueOf, labelsOf, listOf, objectOf, says, textOf } from './foreign.ts'
import type { ForgeFormat, Part } from './forge-format.ts'

/** Issues of Redmine's REST API: pages of them, issues alone with their journals, or a folder of both. */
export const redmineFormat: ForgeFormat = {
  recognizes(record) {
    const [[, first] = []] = partsOf(objectOf(record))
    return hasProperties(record, 'issues', 'total_count') || hasProperties(first, 'id', 'subject', 'tracker')
  },
  repeatsBy: 'id',
  convert: wholeIssue,
  partsOf,
}

/** A page has many issues, and what was asked for alone has one. */
function partsOf(record: Foreign): readonly Part[] {
  const { issue, issues } = record
  const rest: Part = [[], record, countsOfPage]
  if (says(issue)) return [[['issue'], issue, wholeIssue], rest]
  if (!Array.isArray(issues)) return [[[], record, wholeIssue]]
  return [...issues.map((each, at): Part => [['issues', at], each, issueOfPage]), rest]
}

/** Counts the issues: the first page says how many there are on all pages. */
function countsOfPage({ issues, total_count, offset }: Foreign, at: Findings): readonly Made[] {
  if (!says(offset)) at.expect('issues', 'total_count', total_count)
  at.found('issues', listOf(issues).length)
  return []
}

/** The file that has an issue alone is read in place of what a page has of it. */
function issueOfPage(record: Foreign, at: Findings): readonly Made[] {
  const file = `issues/${textOf(record['id'])}.json`
  if (!at.state.files.has(file)) return wholeIssue(record, at)
  at.state.known.set(file, record['id'])
  return versionOf(record, at)
}

function wholeIssue(record: Foreign, at: Findings): readonly Made[] {
  const { id: number, subject: title, description: content, status, author, assigned_to, ...others } = record
  const { is_private, tracker, priority, category, journals, attachments, fixed_version, ...dated } = others
  const { created_on: created, updated_on: updated, closed_on: closed, project: _, ...rest } = dated
  const version = versionOf(record, at)
  if (at.isLeftOut(says(is_private), number)) return []

  at.leaveAll('attachment', 'attachments', attachments)
  // Redmine up to 3 does not say of a status, which may have any name, whether it is one of closed issues.
  const state = (objectOf(status)['is_closed'] ?? says(closed)) ? 'closed' : 'open'
  const [milestone] = listOf(fixed_version).map(nameOf)
  at.leaveRest(rest)
  const labels = labelsOf({ tracker: nameOf(tracker), priority: nameOf(priority), category: nameOf(category) })
  const lists = { labels, assignees: listOf(assigned_to).map(nameOf) }
  const issue = issueOf({ number, title, content, milestone, state, created, updated, closed }, posterOf(author), lists)
  const commentsIn = (journal: unknown, inIt: Findings) => commentsOf(number, objectOf(journal), inIt)
  return [...version, issue, ...at.each('journals', journals, commentsIn)]
}

/** Returns the milestone of an issue, unless it was carried before. */
function versionOf({ fixed_version }: Foreign, at: Findings): readonly Made[] {
  const [title] = listOf(fixed_version).map(nameOf)
  return title === undefined ? [] : at.milestone({ title, state: 'open' })
}

/** Returns the comment of a change of an issue, if it has one. */
function commentsOf(issue_number: unknown, journal: Foreign, at: Findings): readonly Made[] {
  const { id: _, user, notes: content, created_on: created, updated_on, private_notes, details, ...rest } = journal
  if (says(details)) at.notCarried('system_note')
  if (!says(content) || at.isLeftOut(says(private_notes))) return []
  at.leaveRest(rest)
  return [commentOf({ issue_number, created, updated: updated_on ?? created, content }, posterOf(user))]
}

/** There is only the displayed name of a user, not the login. */
function posterOf(user: unknown): Foreign {
  return user === null ? GHOST : { poster_id: objectOf(user)['id'], poster_name: nameOf(user) }
}

function nameOf(named: unknown): unknown {
  const { name = named } = objectOf(named)
  return typeof name === 'string' ? name.trimEnd() : name
}
