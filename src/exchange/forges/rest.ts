import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { assigneesOf, commentOf, hasProperties, issueOf, listOf, objectOf, posterOf, says, textOf } from './foreign.ts'
import type { ForgeFormat } from './forge-format.ts'

/** Issues of GitHub's REST API, alone or in a folder with the list of comments. */
export const githubFormat: ForgeFormat = restFormat('locked')

/** A folder of python-github-backup: a file for each issue of GitHub's REST API, with its comments in it. */
export const githubBackupFormat: ForgeFormat = restFormat('comment_data')

/**
 * Issues of Gitea's REST API, alone or in a folder with the list of comments. The lists of Gogs and GitBucket, and those of
 * GitHub before 2014, are the same without `is_locked`.
 */
export const giteaFormat: ForgeFormat = restFormat('title')

function restFormat(last: string): ForgeFormat {
  return {
    recognizes: (record) => hasProperties(record, 'number', 'user', 'created_at', last),
    repeatsBy: 'number',
    convert: restIssue,
    comments: { file: 'comments.json', convert: listedComment },
  }
}

/** Returns an issue, behind its milestone, and its comments, if it has them. */
export function restIssue(record: Foreign, at: Findings): readonly Made[] {
  const { number, title, body: content, ref, labels, milestone, state, locked, ...others } = record
  const { created_at: created, updated_at: updated, closed_at: closed, is_locked = locked, ...more } = others
  const { assignee, assignees, comments, comment_data, pull_request, repository: _, ...rest } = more
  // An open one of Gogs and of older Gitea is {"merged":false,"merged_at":null}, which says nothing. A list of pulls has branches.
  if (pull_request || hasProperties(record, 'head', 'base')) return at.leavePull(record)

  at.expect('comments', 'comments', comments)
  if (says(comment_data)) at.found('comments', listOf(comment_data).length)
  if (is_locked !== locked) at.leaveRest({ locked })
  const lists = {
    labels: at.each('labels', labels, restLabel),
    assignees: assigneesOf({ assignees, assignee }, 'login'),
    ...whoReacted(rest),
  }
  const { title: named } = objectOf(milestone)
  const of = { number, title, content, ref, milestone: named, closed, state, is_locked, created, updated }
  return [
    ...restMilestone(milestone, at.within('milestone')),
    issueOf(of, authorOf(rest, content, at), lists),
    ...at.each('comment_data', comment_data, (each, ofComment) => restComment(number, objectOf(each), ofComment)),
  ]
}

function listedComment(record: Foreign, at: Findings): readonly Made[] {
  const { issue_url, pull_request_url, html_url, ...comment } = record
  // Gogs and GitBucket have only the address of the page.
  const [, digits] = /\/(\d+)(?:#|$)/.exec(textOf(issue_url ?? html_url)) ?? []
  const number = digits === undefined ? issue_url : Number(digits)
  if (says(pull_request_url)) return at.leave('pull_request_comments')
  // GitHub has the address of an issue also for the comments of pull requests.
  if (at.lacksIssue(number, /\/pull\/\d+#/.test(textOf(html_url)))) return []
  at.found('comments')
  return restComment(number, comment, at)
}

/** Returns a comment, unless it is folded away. */
export function restComment(issue_number: unknown, record: Foreign, at: Findings): readonly Made[] {
  const { created_at: created, updated_at: updated, body: content, minimized, ...rest } = record
  // Spam and abuse that GitHub folds away. The reason may be null.
  if (minimized) {
    at.notCarried('minimized', ['minimized'])
    if (at.state.options.minimized !== 'keep') return []
  }
  return [commentOf({ issue_number, created, updated, content }, authorOf(rest, content, at), whoReacted(rest))]
}

/** Lists of GitHub count reactions. An archive says who reacted. */
function whoReacted({ reactions }: Foreign): Foreign {
  return Array.isArray(reactions) ? { reactions } : {}
}

const ATTACHMENT =
  /https:\/\/(?:user-images\.githubusercontent\.com\/|github\.com\/(?:user-attachments|[\w.-]+\/[\w.-]+)\/(?:assets|files)\/)/g

/**
 * Returns the author, and reports the rest of an issue or a comment: GitHub counts reactions and links to attachments,
 * Gitea lists attachments. What was itself imported into Gitea has an original author; its user is who imported it.
 */
function authorOf(record: Foreign, body: unknown, at: Findings): Foreign {
  const { user, original_author, original_author_id, reactions, assets, ...rest } = record
  const { url: _, total_count, ...counts } = objectOf(reactions)
  at.leaveLinks(ATTACHMENT, 'body', body)
  if (says(total_count)) at.leaveAll('reactions', 'reactions', total_count)
  else if (!Array.isArray(reactions)) at.leaveRest({ reactions: typeof reactions === 'object' ? counts : reactions })
  at.leaveAll('attachment', 'assets', assets)
  at.leaveRest(rest)
  if (!says(original_author)) return posterOf(user, 'login', 'email')

  if (says(user)) at.notCarried('imported_by', ['user'])
  return { poster_id: original_author_id, poster_name: original_author }
}

/** Returns a label, or the first one of its name. One of GitHub may be its name alone. */
export function restLabel(label: unknown, at: Findings): Foreign {
  if (typeof label === 'string') return { name: label }
  // GitHub marks the labels that it made itself.
  const { name, color, description, default: _, ...rest } = objectOf(label)
  at.leaveRest(rest)
  return at.label({ name, color, description })
}

/** Returns a milestone, unless it was carried before. */
export function restMilestone(milestone: unknown, at: Findings): readonly Made[] {
  if (milestone === null || milestone === undefined) return []

  const { title, description, due_on: deadline, state, number: _, ...others } = objectOf(milestone)
  const { created_at: created, updated_at: updated, closed_at: closed, ...rest } = others
  at.leaveRest(rest)
  return at.milestone({ title, description, deadline, created, updated, closed, state })
}
