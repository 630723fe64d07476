import type { Path } from '../documents/record-batch.ts'
import { ConversionState } from './conversion-state.ts'
import { filled, hasProperties, leaveRest, listOf, objectOf, says } from './foreign.ts'
import type { Conversion, ConversionOptions, Findings, Foreign, ForgeFormat } from './forge-format.ts'
import { countOf, leave, listFolder, reportLinks } from './forge-format.ts'
import { ATTACHMENT, isLeftOut, labelOf, milestoneOf, STATES } from './gitlab.ts'

/** Issues of GitLab's REST API, alone or in a folder with the list of notes. */
export const gitlabRestFormat: ForgeFormat = {
  name: 'gitlab-rest',
  recognizes: (record) => hasProperties(record, 'iid', 'author', 'created_at') && !hasProperties(record, 'author_id'),
  open: (options) => issues(new ConversionState(), false, options),
  folder: listFolder('notes.json', (hasNotes, options) => {
    const state = new ConversionState()
    return { issues: issues(state, hasNotes, options), comments: notes(state, options) }
  }),
}

/** What follows from other properties, or concerns only who asked for the list. */
const DERIVED = new Set([
  ...['type', 'references', '_links', 'subscribed', 'has_tasks', 'task_status'],
  ...['expired', 'description_html', 'text_color'],
])
/** What GitLab writes for every issue that has nothing else there. */
const DEFAULTS: Foreign = { issue_type: 'issue', severity: 'UNKNOWN', imported_from: 'none' }

function withoutDefaults(properties: Foreign): Foreign {
  return Object.fromEntries(Object.entries(properties).filter(([name, value]) => DEFAULTS[name] !== value))
}

function withoutDerived(properties: Foreign): Foreign {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !DERIVED.has(name)))
}

function issues(state: ConversionState, hasNotes: boolean, options: ConversionOptions): Conversion {
  return {
    carried: (records) => state.carried(records),
    convert(record, findings) {
      if (isLeftOut(record, [], options, findings)) return []

      const { iid, author, title, description, state: status, discussion_locked, labels, milestone, ...others } = record
      const { created_at, updated_at, closed_at, assignee, assignees, user_notes_count: count, ...more } = others
      const { upvotes, downvotes, confidential: _, ...rest } = more
      if (!hasNotes && says(count)) findings.notCarried('comments', ['user_notes_count'], countOf(count))
      for (const [name, votes] of Object.entries({ upvotes, downvotes })) {
        if (says(votes)) findings.notCarried('reactions', [name], countOf(votes))
      }
      reportLinks(ATTACHMENT, description, ['description'], findings)
      leaveRest(withoutDefaults(withoutDerived(rest)), [], findings)
      const names = [...listOf(assignees), ...listOf(assignee)].map((user) => objectOf(user)['username'])
      const issue = {
        number: iid,
        ...posterOf(author),
        title,
        content: description ?? '',
        ...filled({ milestone: objectOf(milestone)['title'], closed: closed_at }),
        state: STATES.get(status) ?? status,
        is_locked: discussion_locked ?? false,
        created: created_at,
        updated: updated_at,
        labels: listOf(labels).map((label, at) => labelOfList(label, ['labels', at], state, findings)),
        assignees: [...new Set(names)],
      }
      return [
        ...(says(milestone) ? milestoneOf(withoutDerived(objectOf(milestone)), ['milestone'], state, findings) : []),
        { kind: 'issue', issue },
      ]
    },
  }
}

function notes(state: ConversionState, options: ConversionOptions): Conversion {
  return {
    convert(record, findings) {
      const { noteable_iid: issue_number, noteable_type, author, body, system, ...others } = record
      if (says(system)) return leave(findings, 'system_note')
      const isOfIssue = noteable_type === undefined || noteable_type === 'Issue'
      if (!isOfIssue || (typeof issue_number === 'number' && !state.hasIssue(issue_number))) {
        return leave(findings, 'comments')
      }
      if (isLeftOut(record, [], options, findings)) return []

      const { created_at, updated_at, confidential: _, internal: __, ...rest } = others
      reportLinks(ATTACHMENT, body, ['body'], findings)
      leaveRest(withoutDefaults(rest), [], findings)
      const times = { created: created_at, updated: updated_at }
      return [{ kind: 'comment', comment: { issue_number, ...posterOf(author), ...times, content: body ?? '' } }]
    },
  }
}

/** A user who is gone is null. */
function posterOf(author: unknown): Foreign {
  if (author === null) return { poster_id: 0, poster_name: 'ghost' }
  const { id, username, public_email } = objectOf(author)
  return { poster_id: id, poster_name: username, ...filled({ poster_email: public_email }) }
}

/** A label is its name alone, or an object if the list was asked for with `with_labels_details`. */
function labelOfList(label: unknown, path: Path, state: ConversionState, findings: Findings): unknown {
  if (typeof label === 'string') return { name: label }
  const { name: title, ...rest } = withoutDerived(objectOf(label))
  return labelOf({ title, ...rest }, path, state, findings)
}
