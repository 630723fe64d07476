import { GHOST } from '../../schema/placeholder-names.ts'
import { ConversionState } from './conversion-state.ts'
import { commentOf, hasProperties, issueOf, labelsOf, leaveRest, listOf, objectOf, says, textOf } from './foreign.ts'
import type { Conversion, ConversionOptions, Findings, Foreign, ForgeFormat, Made, Part } from './forge-format.ts'
import { isLeftOut, ownFilesIn, within } from './forge-format.ts'

/** Issues of Redmine's REST API: pages of them, issues alone with their journals, or a folder of both. */
export const redmineFormat: ForgeFormat = {
  name: 'redmine',
  recognizes(record) {
    const [[, first] = []] = partsOf(objectOf(record))
    return hasProperties(record, 'issues', 'total_count') || hasProperties(first, 'id', 'subject', 'tracker')
  },
  open(options, files) {
    const [own, inPages] = [ownFilesIn(files), new Set<string>()]
    return { issues: issues(options, new Set(own), inPages), ownFiles: () => new Set([...inPages, ...own]) }
  },
}

/** A page has many issues, and what was asked for alone has one. */
function partsOf(record: Foreign): readonly Part[] {
  const { issue, issues } = record
  if (says(issue)) return [[['issue'], issue]]
  return Array.isArray(issues) ? issues.map((each, at) => [['issues', at], each]) : [[[], record]]
}

/** @param own - the files that are read in place of what a page has of their issues @param inPages - those that pages name */
function issues(options: ConversionOptions, own: ReadonlySet<string>, inPages: Set<string>): Conversion {
  const state = new ConversionState()
  return {
    repeatsBy: 'id',
    state,
    partsOf,
    convert(record, findings, [list]) {
      const {
        id,
        subject: title,
        description: content,
        status: given,
        author,
        assigned_to,
        fixed_version,
        ...others
      } = record
      const { tracker, priority, category, journals, attachments, is_private, project: _, ...more } = others
      const { created_on: created, updated_on: updated, closed_on: closed, ...rest } = more
      const [version] = listOf(fixed_version).map(nameOf)
      const before = version === undefined ? [] : state.milestone({ title: version, state: 'open' }, findings)
      const file = `issues/${textOf(id)}.json`
      if (list === 'issues' && own.has(file)) {
        inPages.add(file)
        return before
      }
      if (isLeftOut(says(is_private), id, options, findings)) return []

      leaveRest(rest, findings)
      if (says(attachments)) findings.notCarried('attachment', ['attachments'], listOf(attachments).length)
      // Redmine up to 3 does not say of a status, which may have any name, whether it is one of closed issues.
      const status = (objectOf(given)['is_closed'] ?? says(closed)) ? 'closed' : 'open'
      const of = { number: id, title, content, milestone: version, state: status, created, updated, closed }
      const lists = {
        labels: labelsOf({ tracker: nameOf(tracker), priority: nameOf(priority), category: nameOf(category) }),
        assignees: listOf(assigned_to).map(nameOf),
      }
      const comments = listOf(journals).flatMap((each, at) => {
        return journalOf(id, objectOf(each), options, within(findings, ['journals', at]))
      })
      return [...before, issueOf(of, posterOf(author), lists), ...comments]
    },
  }
}

/** Returns the comment of a change of an issue, if it has one. */
function journalOf(
  issue_number: unknown,
  journal: Foreign,
  options: ConversionOptions,
  findings: Findings,
): readonly Made[] {
  const { id: _, user, notes: content, created_on: created, updated_on, private_notes, details, ...rest } = journal
  if (says(details)) findings.notCarried('system_note', [])
  if (!says(content) || isLeftOut(says(private_notes), undefined, options, findings)) return []
  leaveRest(rest, findings)
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
