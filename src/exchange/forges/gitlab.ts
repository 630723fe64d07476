import { GHOST, nameOfId } from '../../schema/placeholder-names.ts'
import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { filled, hasProperties, objectOf, says } from './foreign.ts'
import type { Conversion, ForgeFormat } from './forge-format.ts'
import { rootsOf } from './forge-format.ts'
import { gitlabComment, gitlabIssue, gitlabLabel, gitlabMilestone, isHidden, isNoComment } from './gitlab-rest.ts'

/**
 * Returns the file that an export with this one would have issues in: from GitLab 16.11 on it does not have the files of lists without
 * records. Those before GitLab 13 have the issues in `project.json`, and no folder `tree`.
 */
function withIssues(file: string): string {
  return file.replace(/(^|\/)tree\/project\.json$/, '$1tree/project/issues.ndjson')
}

/** An unpacked project export of GitLab. Its issues alone are a list without the names of users. */
export const gitlabFormat: ForgeFormat = {
  recognizes: (record) => hasProperties(record, 'iid', 'author_id', 'created_at'),
  convert: exportedIssue,
  folder: {
    rootsIn: (files) => rootsOf(files.map(withIssues), 'issues\\.ndjson'),
    async *read({ read }) {
      yield* read('project_members.ndjson', MEMBERS)
      yield* read('labels.ndjson', LABELS)
      yield* read('milestones.ndjson', { convert: gitlabMilestone })
      yield* read('issues.ndjson', gitlabFormat)
    },
    wordOf: (file) => (file === 'merge_requests.ndjson' ? 'pull_request' : 'file'),
  },
}

const LABELS: Conversion = { convert: (record, at) => [{ kind: 'label', label: gitlabLabel(record, 'title', at) }] }

/** The members of a project are known by their ids. The other records have only the ids of users. */
const MEMBERS: Conversion = {
  convert({ user }, at) {
    const { id, username: poster_name, public_email: poster_email } = objectOf(user)
    if (says(poster_name)) at.state.known.set(id, { poster_name, poster_email })
    else if (says(id)) at.notCarried('user_name', ['user'])
    return []
  },
}

/** Names of reactions that differ in Gitea. Others are the same. */
const REACTIONS: ReadonlyMap<unknown, string> = new Map(
  Object.entries({ thumbsup: '+1', thumbsdown: '-1', tada: 'hooray', laughing: 'laugh' }),
)

function exportedIssue(record: Foreign, at: Findings): readonly Made[] {
  if (isHidden(record, at)) return []

  const { author_id, label_links, award_emoji, issue_assignees, notes, ...issue } = record
  const names = at.each('issue_assignees', issue_assignees, (assignee, ofAssignee) => {
    return userOf(objectOf(assignee)['user_id'], ofAssignee)['poster_name']
  })
  const author = userOf(author_id, at)
  const lists = {
    labels: at.each('label_links', label_links, (link, ofLink) => {
      return gitlabLabel(objectOf(link)['label'], 'title', ofLink.within('label'))
    }),
    reactions: at.each('award_emoji', award_emoji, reactionOf),
    assignees: [...new Set(names)],
  }
  const comments = at.each('notes', notes, (note, ofNote) => commentsOf(record['iid'], objectOf(note), ofNote))
  return [...gitlabIssue(issue, author, lists, at), ...comments]
}

/** Returns the comment that a note is, or none. */
function commentsOf(issue_number: unknown, record: Foreign, at: Findings): readonly Made[] {
  const { author_id, author, award_emoji, ...note } = record
  const { name } = objectOf(author)
  if (says(author_id) && typeof name === 'string') at.state.displayed.set(nameOfId(author_id), name)
  if (isNoComment(note, at)) return []
  const reactions = at.each('award_emoji', award_emoji, reactionOf)
  return [gitlabComment({ issue_number, reactions, ...userOf(author_id, at) }, note, 'note', at)]
}

function reactionOf(award: unknown, at: Findings): Foreign {
  const { name, user_id, awardable_type: _, ...rest } = objectOf(award)
  const { poster_name: user_name } = objectOf(at.state.known.get(user_id))
  at.leaveRest(rest)
  return { user_id, ...filled({ user_name }), content: REACTIONS.get(name) ?? name }
}

/** Returns a user. Who left the project is not among its members. */
function userOf(user: unknown, at: Findings): Foreign {
  const id = user ?? GHOST.poster_id
  const poster_name = nameOfId(id)
  const member = at.state.known.get(id)
  if (member === undefined) {
    at.state.nameless.add(poster_name)
    at.notCarried('user_name')
  }
  return { poster_id: id, poster_name, ...objectOf(member) }
}
