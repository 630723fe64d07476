import type { Findings } from './findings.ts'
import type { Foreign } from './foreign.ts'
import { hasProperties, listOf, objectOf, says, textOf } from './foreign.ts'
import type { ForgeFormat } from './forge-format.ts'
import { restComment, restIssue } from './rest.ts'

/** Fields that no other form has, and those without which an issue cannot be read. */
const OF_GH = ['createdAt', 'updatedAt', 'closedAt', 'isPinned', 'stateReason', 'reactionGroups', 'projectItems']
/** Fields of `gh pr list` that issues do not have. */
const OF_PULLS = ['headRefName', 'baseRefName', 'isDraft', 'mergedAt', 'mergeable', 'reviewDecision']
/** How many comments of an issue `gh issue list` prints at most. It leaves out the others without a warning. */
const COMMENTS_OF_A_LIST = 100
const NEEDED = ['number', 'title', 'state', 'author', 'body', 'createdAt', 'updatedAt']

/** What `gh issue list --json` prints, with the fields that it was asked for. */
export const githubCliFormat: ForgeFormat = {
  recognizes(record) {
    const hasField = OF_GH.some((field) => hasProperties(record, field))
    return /^(?:OPEN|CLOSED)$/.test(textOf(objectOf(record)['state'])) || (hasField && hasProperties(record, 'number'))
  },
  refusal(record) {
    const missing = NEEDED.filter((field) => !hasProperties(record, field)).join(',')
    return missing === '' ? undefined : `expected more fields: add ${missing} to those of gh issue list --json`
  },
  repeatsBy: 'number',
  convert({ comments, ...issue }, at) {
    if (issue['state'] === 'MERGED' || OF_PULLS.some((field) => hasProperties(issue, field))) return at.leavePull(issue)
    const answers = at.each('comments', comments, (each, ofComment) => {
      const comment = objectOf(each)
      const made = restComment(issue['number'], asInRest(comment), ofComment)
      if (made.length > 0) leaveReactions(comment, ofComment)
      return made
    })
    leaveReactions(issue, at)
    if (listOf(comments).length === COMMENTS_OF_A_LIST) at.notCarried('comments', ['comments'])
    return [...restIssue(asInRest(issue), at), ...answers]
  },
}

/** Returns an issue or a comment with the names of the REST API, without what `gh` derives or says of its user. */
function asInRest(record: Foreign): Foreign {
  const { author, createdAt: created_at, updatedAt: updated_at = created_at, closedAt: closed_at, ...others } = record
  const { milestone, reactionGroups: _, isMinimized: minimized, minimizedReason: __, ...more } = others
  const { closed: ___, authorAssociation: ____, includesCreatedEdit: _____, viewerDidAuthor: ______, ...rest } = more
  const { dueOn: due_on, ...named } = objectOf(milestone)
  const of = { user: userOf(author), created_at, updated_at, closed_at, minimized }
  return { ...of, milestone: says(milestone) ? { state: 'open', ...named, due_on } : null, ...rest }
}

function leaveReactions({ reactionGroups }: Foreign, at: Findings): void {
  const counts = listOf(reactionGroups).map((group) => Number(textOf(objectOf(objectOf(group)['users'])['totalCount'])))
  const sum = counts.reduce((one, other) => one + other, 0)
  if (sum !== 0) at.notCarried('reactions', ['reactionGroups'], sum || 1)
}

/** A user who is gone has no name, and the name of an app is behind a word. */
function userOf(author: unknown): Foreign | null {
  const { login } = objectOf(author)
  if (login === '' || login === 'app/') return null
  return { id: 0, login: typeof login === 'string' ? login.replace(/^app\/(.*)$/, '$1[bot]') : login }
}
