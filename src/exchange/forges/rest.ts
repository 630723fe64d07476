import { GHOST } from '../../schema/placeholder-names.ts'
import { ConversionState } from './conversion-state.ts'
import {
  commentOf,
  filled,
  hasProperties,
  isForeign,
  issueOf,
  leaveRest,
  listOf,
  objectOf,
  says,
  textOf,
} from './foreign.ts'
import type { Conversion, ConversionOptions, Findings, Foreign, ForgeFormat, Made } from './forge-format.ts'
import { countOf, leave, reportLinks, within } from './forge-format.ts'

/** Issues of GitHub's REST API, alone or in a folder with the list of comments. */
export const githubFormat: ForgeFormat = restFormat('github', 'locked')

/**
 * Issues of Gitea's REST API, alone or in a folder with the list of comments. The lists of Gogs and GitBucket, and those of
 * GitHub before 2014, are the same without `is_locked`.
 */
export const giteaFormat: ForgeFormat = restFormat('gitea', 'title')

function restFormat(name: 'github' | 'gitea', last: string): ForgeFormat {
  const commentsFile = 'comments.json'
  return {
    name,
    recognizes: (record) => hasProperties(record, 'number', 'user', 'created_at', last),
    commentsFile,
    open(options, files) {
      const state = new ConversionState()
      return { issues: restIssues(state, files.includes(commentsFile)), comments: comments(state, options) }
    },
  }
}

/** Converts the issues of a list. @param hasComments - whether their comments follow */
export function restIssues(state: ConversionState, hasComments: boolean): Conversion {
  return {
    repeatsBy: 'number',
    state,
    convert(record, findings) {
      const { number, title, body: content, ref, labels, milestone, state: status, locked, ...others } = record
      const { created_at: created, updated_at: updated, closed_at: closed, is_locked = locked, ...more } = others
      const { assignee, assignees, comments: count, pull_request, repository: _, ...poster } = more
      // An open one of Gogs and of older Gitea is {"merged":false,"merged_at":null}.
      if (isForeign(pull_request) || says(pull_request)) {
        findings.leftOut(number)
        state.addPull(number)
        return leave(findings, 'pull_request')
      }

      if (!hasComments && says(count)) findings.notCarried('comments', ['comments'], countOf(count))
      const names = [...listOf(assignees), ...listOf(assignee)].map((user) => objectOf(user)['login'])
      const lists = {
        labels: listOf(labels).map((label, at) => restLabel(label, state, within(findings, ['labels', at]))),
        assignees: [...new Set(names)],
        ...whoReacted(poster),
      }
      const { title: named } = objectOf(milestone)
      const of = { number, title, content, ref, milestone: named, closed, state: status, is_locked, created, updated }
      const issue = issueOf(of, posterOf(poster, content, findings), lists)
      return [...restMilestone(milestone, state, within(findings, ['milestone'])), issue]
    },
  }
}

function comments(state: ConversionState, options: ConversionOptions): Conversion {
  return {
    convert(record, findings) {
      const { issue_url, pull_request_url, html_url, ...comment } = record
      // Gogs and GitBucket have only the address of the page.
      const [, number] = /\/(\d+)(?:#.*)?$/.exec(textOf(issue_url ?? html_url)) ?? []
      const issue_number = number === undefined ? issue_url : Number(number)
      if (says(pull_request_url)) return leave(findings, 'pull_request_comments')
      if (typeof issue_number === 'number' && !state.hasIssue(issue_number)) {
        // GitHub has the address of an issue also for the comments of pull requests.
        const isOfPull = PULL.test(textOf(html_url))
        return leave(findings, isOfPull ? 'pull_request_comments' : state.wordOfComment(issue_number))
      }
      return restComment(issue_number, comment, options, findings)
    },
  }
}

/** Returns a comment, unless it is folded away. */
export function restComment(
  issue_number: unknown,
  { created_at: created, updated_at: updated, body: content, minimized, ...poster }: Foreign,
  options: ConversionOptions,
  findings: Findings,
): readonly Made[] {
  // Spam and abuse that GitHub folds away. The reason may be null.
  if (isForeign(minimized) || says(minimized)) {
    findings.notCarried('minimized', ['minimized'])
    if (options.minimized !== 'keep') return []
  }
  const of = { issue_number, created, updated, content }
  return [commentOf(of, posterOf(poster, content, findings), whoReacted(poster))]
}

/** Lists of GitHub count reactions. An archive says who reacted. */
function whoReacted({ reactions }: Foreign): Foreign {
  return Array.isArray(reactions) ? filled({ reactions }) : {}
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
  else if (!Array.isArray(reactions)) leaveRest({ reactions: isForeign(reactions) ? counts : reactions }, findings)
  if (says(assets)) findings.notCarried('attachment', ['assets'], listOf(assets).length)
  leaveRest(rest, findings)
  if (says(original_author)) {
    if (says(user)) findings.notCarried('imported_by', ['user'])
    return { poster_id: original_author_id, poster_name: original_author }
  }
  if (user === null) return GHOST
  const { id: poster_id, login: poster_name, email: poster_email } = objectOf(user)
  return { poster_id, poster_name, poster_email }
}

/** Returns a label. One of GitHub may be its name alone. */
export function restLabel(label: unknown, state: ConversionState, findings: Findings): unknown {
  if (typeof label === 'string') return { name: label }
  // GitHub marks the labels that it made itself.
  const { name, color, description, default: _, ...rest } = objectOf(label)
  leaveRest(rest, findings)
  return state.label({ name, ...filled({ color, description }) }, findings)
}

/** Returns a milestone, unless it was carried before. */
export function restMilestone(milestone: unknown, state: ConversionState, findings: Findings): readonly Made[] {
  if (milestone === null || milestone === undefined) return []

  const { title, description, due_on, state: status, number: _, ...others } = objectOf(milestone)
  const { created_at: created, updated_at: updated, closed_at: closed, ...rest } = others
  leaveRest(rest, findings)
  const deadline = textOf(due_on).startsWith('9999-12-31') ? null : due_on // Gogs has no other word for none
  return state.milestone(
    { title, ...filled({ description, deadline, created, updated, closed }), state: status },
    findings,
  )
}
