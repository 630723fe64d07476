import { ConversionState } from './conversion-state.ts'
import { hasProperties, listOf, objectOf, says, textOf } from './foreign.ts'
import type { Findings, Foreign, ForgeFormat } from './forge-format.ts'
import { within } from './forge-format.ts'
import { restComment, restIssues } from './rest.ts'

const STATES: ReadonlyMap<unknown, string> = new Map([
  ['OPEN', 'open'],
  ['CLOSED', 'closed'],
])
/** Fields that no other form has, and those without which an issue cannot be read. */
const OF_GH = ['createdAt', 'updatedAt', 'closedAt', 'isPinned', 'stateReason', 'reactionGroups', 'projectItems']
const NEEDED = ['number', 'title', 'state', 'author', 'body', 'createdAt', 'updatedAt']

/** What `gh issue list --json` prints, with the fields that it was asked for. */
export const githubCliFormat: ForgeFormat = {
  name: 'github-cli',
  recognizes(record) {
    const hasField = OF_GH.some((field) => hasProperties(record, field))
    return STATES.has(objectOf(record)['state']) || (hasField && hasProperties(record, 'number'))
  },
  refusal(record) {
    const missing = NEEDED.filter((field) => !hasProperties(record, field)).join(',')
    return missing === '' ? undefined : `expected more fields: add ${missing} to those of gh issue list --json`
  },
  open(options) {
    const issues = restIssues(new ConversionState(), true)
    return {
      issues: {
        ...issues,
        convert({ comments, ...record }, findings, path) {
          const answers = listOf(comments).flatMap((each, at) => {
            const [comment, ofComment] = [objectOf(each), within(findings, ['comments', at])]
            const made = restComment(record['number'], asInRest(comment), options, ofComment)
            if (made.length > 0) reportReactions(comment, ofComment)
            return made
          })
          reportReactions(record, findings)
          return [...issues.convert(asInRest(record), findings, path), ...answers]
        },
      },
    }
  },
}

/** Returns an issue or a comment with the names of the REST API, without what `gh` derives or says of its user. */
function asInRest(record: Foreign): Foreign {
  const { author, createdAt: created_at, updatedAt: updated_at = created_at, closedAt: closed_at, ...others } = record
  const { state, milestone, reactionGroups: _, isMinimized: minimized, minimizedReason: __, ...more } = others
  const { closed: ___, authorAssociation: ____, includesCreatedEdit: _____, viewerDidAuthor: ______, ...rest } = more
  const { dueOn: due_on, ...named } = objectOf(milestone)
  const of = { user: userOf(author), state: STATES.get(state) ?? state, created_at, updated_at, closed_at, minimized }
  return { ...of, milestone: says(milestone) ? { state: 'open', ...named, due_on } : null, ...rest }
}

function reportReactions({ reactionGroups }: Foreign, findings: Findings): void {
  const counts = listOf(reactionGroups).map((group) => Number(textOf(objectOf(objectOf(group)['users'])['totalCount'])))
  const sum = counts.reduce((one, other) => one + other, 0)
  if (sum !== 0) findings.notCarried('reactions', ['reactionGroups'], sum || 1)
}

/** A user who is gone has no name, and the name of an app is behind a word. */
function userOf(author: unknown): Foreign | null {
  const { login } = objectOf(author)
  if (login === '' || login === 'app/') return null
  return { id: 0, login: typeof login === 'string' ? login.replace(/^app\/(.*)$/, '$1[bot]') : login }
}
