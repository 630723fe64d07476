import { GHOST } from '../../schema/placeholder-names.ts'
import type { Path } from '../documents/source-record.ts'
import { ConversionState } from './conversion-state.ts'
import { filled, hasProperties, isForeign, leaveRest, listOf, objectOf, says } from './foreign.ts'
import type { Conversion, ConversionOptions, Findings, Foreign, ForgeFormat, Made } from './forge-format.ts'
import { countOf, leave, reportLinks } from './forge-format.ts'

/** Issues of GitHub's REST API, alone or in a folder with the list of comments. */
export const githubFormat: ForgeFormat = restFormat('github', 'locked')

/** Issues of Gitea's REST API, alone or in a folder with the list of comments. */
export const giteaFormat: ForgeFormat = restFormat('gitea', 'is_locked')

function restFormat(name: 'github' | 'gitea', locked: string): ForgeFormat {
  return {
    name,
    recognizes: (record) => hasProperties(record, 'number', 'user', locked, 'created_at'),
    commentsFile: 'comments.json',
    open(options, hasComments) {
      const state = new ConversionState()
      return { issues: restIssues(state, hasComments), comments: comments(state, options) }
    },
  }
}

/** Converts the issues of a list. @param hasComments - whether their comments follow */
export function restIssues(state: ConversionState, hasComments: boolean): Conversion {
  return {
    mayRepeat: true,
    carried: (records) => state.carried(records),
    convert(record, findings) {
      const { number, title, body, ref, labels, milestone, state: status, locked, is_locked, ...others } = record
      const { created_at, updated_at, closed_at, assignee, assignees, comments: count, ...more } = others
      const { pull_request, repository: _, ...poster } = more
      if (says(pull_request)) {
        findings.leftOut(number)
        state.addPull(number)
        return leave(findings, 'pull_request')
      }

      if (!hasComments && says(count)) findings.notCarried('comments', ['comments'], countOf(count))
      const names = [...listOf(assignees), ...listOf(assignee)].map((user) => objectOf(user)['login'])
      const { poster_id, poster_name, poster_email } = posterOf(poster, body, findings)
      const { title: inMilestone } = objectOf(milestone)
      const issue = {
        number,
        poster_id,
        poster_name,
        title,
        content: body ?? '',
        state: status,
        is_locked: says(is_locked) ? is_locked : (locked ?? false),
        created: created_at,
        updated: updated_at,
        labels: listOf(labels).map((label, at) => labelOf(label, ['labels', at], state, findings)),
        assignees: [...new Set(names)],
        ...filled({ poster_email, ref, milestone: inMilestone, closed: closed_at, reactions: whoReacted(poster) }),
      }
      return [...milestoneOf(milestone, ['milestone'], state, findings), { kind: 'issue', issue }]
    },
  }
}

function comments(state: ConversionState, options: ConversionOptions): Conversion {
  return {
    convert(record, findings) {
      const { issue_url, pull_request_url, html_url, ...comment } = record
      const number = /\/(\d+)$/.exec(String(issue_url))?.[1]
      const issue_number = number === undefined ? issue_url : Number(number)
      if (says(pull_request_url)) return leave(findings, 'pull_request_comments')
      if (typeof issue_number === 'number' && !state.hasIssue(issue_number)) {
        // GitHub has the address of an issue also for the comments of pull requests.
        const isOfPull = PULL.test(String(html_url))
        return leave(findings, isOfPull ? 'pull_request_comments' : state.wordOfComment(issue_number))
      }
      return commentOf(issue_number, comment, options, findings)
    },
  }
}

/** Returns a comment, unless it is folded away. */
export function commentOf(
  issue_number: unknown,
  { created_at: created, updated_at: updated, body, minimized, ...poster }: Foreign,
  options: ConversionOptions,
  findings: Findings,
): readonly Made[] {
  // Spam and abuse that GitHub folds away. The reason may be null.
  if (isForeign(minimized) || says(minimized)) {
    findings.notCarried('minimized', ['minimized'])
    if (options.minimized !== 'keep') return []
  }
  const { poster_id, poster_name, poster_email } = posterOf(poster, body, findings)
  const optional = filled({ poster_email, reactions: whoReacted(poster) })
  return [
    {
      kind: 'comment',
      comment: { issue_number, poster_id, poster_name, created, updated, content: body ?? '', ...optional },
    },
  ]
}

/** The REST API counts reactions. An archive lists them. */
function whoReacted({ reactions }: Foreign): unknown {
  return Array.isArray(reactions) ? reactions : undefined
}

const PULL = /\/pull\/\d+#/
const ATTACHMENT =
  /https:\/\/(?:user-images\.githubusercontent\.com\/|github\.com\/(?:user-attachments|[\w.-]+\/[\w.-]+)\/(?:assets|files)\/)/g

/**
 * Returns the author, and reports the rest of an issue or a comment: GitHub counts reactions and links to attachments,
 * Gitea lists attachments. A deleted user is null. What was itself imported into Gitea has an original author; its user
 * is who imported it.
 */
function posterOf(record: Foreign, body: unknown, findings: Findings): Foreign {
  const { user, original_author, original_author_id, reactions, assets, ...rest } = record
  const { url: _, total_count, ...counts } = objectOf(reactions)
  reportLinks(ATTACHMENT, body, ['body'], findings)
  if (says(total_count)) findings.notCarried('reactions', ['reactions'], countOf(total_count))
  else if (!Array.isArray(reactions)) leaveRest({ reactions: isForeign(reactions) ? counts : reactions }, [], findings)
  if (says(assets)) findings.notCarried('attachment', ['assets'], listOf(assets).length)
  leaveRest(rest, [], findings)
  if (says(original_author)) {
    if (says(user)) findings.notCarried('imported_by', ['user'])
    return { poster_id: original_author_id, poster_name: original_author }
  }
  if (user === null) return GHOST
  const { id, login, email } = objectOf(user)
  return { poster_id: id, poster_name: login, ...filled({ poster_email: email }) }
}

/** A label of GitHub may be its name alone. */
export function labelOf(label: unknown, path: Path, state: ConversionState, findings: Findings): unknown {
  if (typeof label === 'string') return { name: label }
  // GitHub marks the labels that it made itself.
  const { name, color, description, default: _, ...rest } = objectOf(label)
  leaveRest(rest, path, findings)
  return state.label({ name, ...filled({ color, description }) }, path, findings)
}

/** Returns the milestone, unless it was carried before. */
export function milestoneOf(
  milestone: unknown,
  path: Path,
  state: ConversionState,
  findings: Findings,
): readonly Made[] {
  if (milestone === null || milestone === undefined) return []

  const { title, description, due_on: deadline, state: status, number: _, ...others } = objectOf(milestone)
  const { created_at: created, updated_at: updated, closed_at: closed, ...rest } = others
  leaveRest(rest, path, findings)
  const filledTimes = filled({ description, deadline, created, updated, closed })
  return state.milestone({ title, ...filledTimes, state: status }, path, findings)
}
