import { GHOST } from '../../schema/placeholder-names.ts'
import { ConversionState } from './conversion-state.ts'
import { hasProperties, listOf, objectOf, says } from './foreign.ts'
import type { Conversion, ConversionOptions, Foreign, ForgeFormat } from './forge-format.ts'
import { countOf, leave, within } from './forge-format.ts'
import { gitlabComment, gitlabIssue, isHidden, isNoComment, labelOf } from './gitlab-records.ts'

const NOTES = 'notes.json'

/** Issues of GitLab's REST API, alone or in a folder with the list of notes. */
export const gitlabRestFormat: ForgeFormat = {
  name: 'gitlab-rest',
  recognizes: (record) => hasProperties(record, 'iid', 'author', 'created_at') && !hasProperties(record, 'author_id'),
  commentsFile: NOTES,
  open(options, files) {
    const state = new ConversionState()
    return { issues: issues(state, files.includes(NOTES), options), comments: notes(state, options) }
  },
}

function issues(state: ConversionState, hasNotes: boolean, options: ConversionOptions): Conversion {
  return {
    repeatsBy: 'iid',
    state,
    convert(record, findings) {
      if (isHidden(record, options, findings)) return []

      const { author, labels, assignee, assignees, user_notes_count: count, upvotes, downvotes, ...issue } = record
      if (!hasNotes && says(count)) findings.notCarried('comments', ['user_notes_count'], countOf(count))
      for (const [name, votes] of Object.entries({ upvotes, downvotes })) {
        if (says(votes)) findings.notCarried('reactions', [name], countOf(votes))
      }
      const names = [...listOf(assignees), ...listOf(assignee)].map((user) => objectOf(user)['username'])
      const lists = {
        // A label is its name alone, or an object if the list was asked for with `with_labels_details`.
        labels: listOf(labels).map((label, at) =>
          typeof label === 'string'
            ? { name: label }
            : labelOf(objectOf(label), 'name', state, within(findings, ['labels', at])),
        ),
        assignees: [...new Set(names)],
      }
      return gitlabIssue(issue, posterOf(author), lists, state, findings)
    },
  }
}

function notes(state: ConversionState, options: ConversionOptions): Conversion {
  let threads = new Set<unknown>()
  let threadsOf: unknown
  return {
    convert(record, findings) {
      const { noteable_iid: issue_number, author, ...note } = record
      const { noteable_type = 'Issue' } = note
      if (noteable_type === 'MergeRequest') return leave(findings, 'pull_request_comments')
      if (noteable_type !== 'Issue' || (typeof issue_number === 'number' && !state.hasIssue(issue_number))) {
        return leave(findings, 'comments')
      }
      if (isNoComment(note, options, findings)) return []
      if (issue_number !== threadsOf) threads = new Set() // the notes of an issue follow each other
      threadsOf = issue_number
      return [gitlabComment({ issue_number, ...posterOf(author) }, note, 'body', threads, findings)]
    },
  }
}

/** A user who is gone is null. */
function posterOf(author: unknown): Foreign {
  if (author === null) return GHOST
  const { id: poster_id, username: poster_name, public_email: poster_email } = objectOf(author)
  return { poster_id, poster_name, poster_email }
}
