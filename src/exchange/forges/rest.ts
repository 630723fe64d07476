import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { assigneesOf, hasProperties, listOf, objectOf, posterOf, says, textOf } from './foreign.ts'
import type { ForgeFormat } from './forge-format.ts'

/** Issues of GitHub's REST API, alone or in a folder with the list of comments. */
export const githubFormat: ForgeFormat = restFormat('github', 'locked')

/** A folder of python-github-backup: a file for each issue of GitHub's REST API, with its comments in it. */
export const githubBackupFormat: ForgeFormat = restFormat('github-backup', 'comment_data')

/**
 * Issues of Gitea's REST API, alone or in a folder with the list of comments. The lists of Gogs and GitBucket, and those of
 * GitHub before 2014, are the same without `is_locked`.
 */
export const giteaFormat: ForgeFormat = restFormat('gitea', 'title')

function restFormat(name: 'github' | 'github-backup' | 'gitea', last: string): ForgeFormat {
  return {
    name,
    recognizes: (record) => hasProperties(record, 'number', 'user', 'created_at', last),
    repeatsBy: 'number',
    convert: restIssue,
    comments: { file: 'comments.json', convert: listedComment },
  }
}

/** Returns an issue, behind its milestone, and its comments, if it has them. */
export function restIssue(record: Foreign, at: Findings): readonly Made[] {
  const { number, title, state, ref, locked, is_locked = locked, labels, milestone, ...others } = record
  const { assignee, assignees, comments, comment_data, pull_request, repository: _, ...more } = others
  // An open one of Gogs and of older Gitea is {"merged":false,"merged_at":null}, which says nothing.
  if (pull_request) return at.leavePull(number)

  at.expect('comments', 'comments', comments)
  if (says(comment_data)) at.found('comments', listOf(comment_data).length)
  if (is_locked !== locked) at.leaveRest({ locked })
  const { own, rest } = written(more, at)
  const lists = {
    labels: at.each('labels', labels, restLabel),
    assignees: assigneesOf({ assignees, assignee }, 'login'),
  }
  const { title: named } = objectOf(milestone)
  return [
    ...restMilestone(milestone, at.within('milestone')),
    at.issue({ ...own, number, title, state, ref, is_locked, milestone: named, ...lists }, rest),
    ...at.each('comment_data', comment_data, (each, ofComment) => restComment(number, objectOf(each), ofComment)),
  ]
}

function listedComment(record: Foreign, at: Findings): readonly Made[] {
  const { issue_url, pull_request_url, html_url, ...comment } = record
  // Gogs and GitBucket have only the address of the page.
  const [, digits] = /\/(\d+)(?:#.*)?$/.exec(textOf(issue_url ?? html_url)) ?? []
  const number = digits === undefined ? issue_url : Number(digits)
  if (says(pull_request_url)) return at.leave('pull_request_comments')
  if (typeof number !== 'number' || at.state.hasIssue(number)) {
    at.found('comments')
    return restComment(number, comment, at)
  }
  // GitHub has the address of an issue also for the comments of pull requests.
  return at.leave(PULL.test(textOf(html_url)) ? 'pull_request_comments' : at.state.wordOfComment(number))
}

/** Returns a comment, unless it is folded away. */
export function restComment(issue_number: unknown, { minimized, ...comment }: Foreign, at: Findings): readonly Made[] {
  // Spam and abuse that GitHub folds away. The reason may be null.
  if (minimized) {
    at.notCarried('minimized', ['minimized'])
    if (at.state.options.minimized !== 'keep') return []
  }
  const { own, rest } = written(comment, at)
  return [at.comment({ ...own, issue_number }, rest)]
}

const PULL = /\/pull\/\d+#/
const ATTACHMENT =
  /https:\/\/(?:user-images\.githubusercontent\.com\/|github\.com\/(?:user-attachments|[\w.-]+\/[\w.-]+)\/(?:assets|files)\/)/g

/**
 * Returns what an issue and a comment have, with our names, and the rest. GitHub counts reactions, an archive of it says who reacted,
 * and Gitea lists attachments. What was itself imported into Gitea has an original author; its user is who imported it.
 */
function written(record: Foreign, at: Findings): { readonly own: Foreign; readonly rest: Foreign } {
  const { body: content, created_at: created, updated_at: updated, closed_at: closed, user, ...others } = record
  const { original_author: poster_name, original_author_id: poster_id, reactions: given, assets, ...rest } = others
  const { url: _, total_count, ...counts } = objectOf(given)
  const reactions = Array.isArray(given) ? given : undefined
  at.leaveLinks(ATTACHMENT, 'body', content)
  if (says(total_count)) at.leaveAll('reactions', 'reactions', total_count)
  else if (reactions === undefined) at.leaveRest({ reactions: typeof given === 'object' ? counts : given })
  at.leaveAll('attachment', 'assets', assets)
  const isImported = says(poster_name)
  if (isImported && says(user)) at.notCarried('imported_by', ['user'])
  const poster = isImported ? { poster_id, poster_name } : posterOf(user, 'login', 'email')
  return { own: { ...poster, content, created, updated, closed, reactions }, rest }
}

/** Returns a label, or the first one of its name. One of GitHub may be its name alone. */
export function restLabel(label: unknown, at: Findings): Foreign {
  if (typeof label === 'string') return { name: label }
  // GitHub marks the labels that it made itself.
  const { name, color, description, default: _, ...rest } = objectOf(label)
  return at.firstLabel(at.label({ name, color, description }, rest))
}

/** Returns a milestone, unless it was carried before. */
export function restMilestone(milestone: unknown, at: Findings): readonly Made[] {
  if (milestone === null || milestone === undefined) return []

  const { title, description, due_on: deadline, state, number: _, ...others } = objectOf(milestone)
  const { created_at: created, updated_at: updated, closed_at: closed, ...rest } = others
  return at.milestone({ title, description, deadline, created, updated, closed, state }, rest)
}
