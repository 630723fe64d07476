import { NumberMap } from '../../schema/number-map.ts'
import { refusal } from '../documents/source-record.ts'
import type { ConversionState, Findings } from './findings.ts'
import type { Foreign } from './foreign.ts'
import { filled, hasProperties, listOf, objectOf, says, textOf } from './foreign.ts'
import type { Convert, ForgeFormat } from './forge-format.ts'
import { rootsOf } from './forge-format.ts'
import { restComment, restIssue, restLabel, restMilestone } from './rest.ts'

/** What GitHub writes to export an account or to migrate: lists of a hundred records each, of one repository or several. */
export const githubArchiveFormat: ForgeFormat = {
  recognizes: (record) => hasProperties(record, 'type', 'url', 'repository') && objectOf(record)['type'] === 'issue',
  convert() {
    throw refusal('folder', 'expected the whole archive: its other lists have the comments, and what is locked')
  },
  folder: {
    rootsIn: (files) => rootsOf(files, '(?:issues|repositories)_000001\\.json'),
    async *read({ state, read }) {
      for (const [kind, convert] of Object.entries(listsOf(state))) {
        for (const file of state.files) if (file.replace(/_\d+\.json$/, '') === kind) yield* read(file, { convert })
      }
    },
    wordOf: (file) => (file === 'schema.json' ? undefined : 'file'),
  },
}

/**
 * Returns the lists that are read, in their order. What others name by its address precedes them: labels, milestones, and the
 * e-mail addresses of users.
 */
function listsOf({ options: { sourceRepository: wanted }, known }: ConversionState): {
  readonly [kind: string]: Convert
} {
  /** When an issue was locked last, in milliseconds; negative: when it was unlocked. */
  const locks = new NumberMap()
  const repositories: string[] = []
  let chosen: string | undefined

  const userOf = (address: unknown) => says(address) && { id: 0, login: lastIn(address), email: known.get(address) }
  const users: Convert = ({ url, emails }) => {
    const { address } = objectOf(listOf(emails).find((email) => says(objectOf(email)['primary'])))
    if (!/@users\.noreply\./.test(textOf(address))) known.set(url, address) // GitHub hides the real one
    return []
  }
  /** Converts the records of the repository that is read. */
  const here =
    (convert: Convert): Convert =>
    (record, at) => {
      if (chosen === undefined || (wanted === undefined && repositories.length > 1)) {
        throw refusal('repository', `expected sourceRepository (--source-repo) to be one of ${repositories.join(', ')}`)
      }
      const addresses = ['repository', 'issue', 'pull_request', 'issue_comment', 'url'].map((name) => record[name])
      return addresses.some((address) => `${textOf(address)}/`.startsWith(`${chosen}/`)) ? convert(record, at) : []
    }

  return {
    repositories({ url, labels }, at) {
      const name = textOf(url).split('/').slice(-2).join('/')
      repositories.push(name)
      const isChosen = wanted === undefined ? chosen === undefined : name.toLowerCase() === wanted.toLowerCase()
      if (!isChosen) return at.leave('other_repository')
      chosen = textOf(url)
      return at.each('labels', labels, (each, ofLabel) => {
        const { url: address, created_at: _, ...label } = objectOf(each)
        known.set(address, label)
        return { kind: 'label', label: restLabel(label, ofLabel) }
      })
    },
    users,
    bots: users,
    milestones: here(({ type: _, url, repository: __, user: ___, ...others }, at) => {
      const milestone = { state: stateOf(others), ...others }
      known.set(url, milestone)
      return restMilestone(milestone, at)
    }),
    issue_events: here(({ issue, event, created_at }, at) => {
      const [number, time] = [Number(textOf(numberIn(issue))), Date.parse(textOf(created_at))]
      const isLater = time >= Math.abs(locks.get(number) ?? 0)
      if (isLater && (event === 'locked' || event === 'unlocked')) locks.set(number, event === 'locked' ? time : -time)
      return at.leave('issue_events')
    }),
    issues: here(({ type: _, url, user, labels, milestone, reactions, assignee, assignees, ...others }, at) => {
      const issue = {
        state: stateOf(others),
        locked: (locks.get(Number(textOf(numberIn(url)))) ?? 0) > 0,
        ...others,
        number: numberIn(url),
        user: userOf(user) || null,
        labels: listOf(labels).map((address) => known.get(address) ?? lastIn(address)),
        milestone: known.get(milestone),
        reactions: at.each('reactions', reactions, reactionOf),
        assignees: [...listOf(assignees), ...listOf(assignee)].map(userOf),
        comments: null,
      }
      return restIssue(issue, at.except('body')) // a list has the files of the attachments that its text links to
    }),
    pull_requests: here(({ url }, at) => at.leavePull({ number: numberIn(url) })),
    issue_comments: here((record, at) => {
      const { type: _, url: __, issue, pull_request, user, formatter: ___, reactions, ...others } = record
      if (says(pull_request)) return at.leave('pull_request_comments')
      if (at.lacksIssue(numberIn(issue))) return []
      const of = { user: userOf(user) || null, reactions: at.each('reactions', reactions, reactionOf) }
      return restComment(numberIn(issue), { updated_at: others['created_at'], ...others, ...of }, at.except('body'))
    }),
    attachments: here((_, at) => at.leave('attachment')),
  }
}

function reactionOf(reaction: unknown, at: Findings): Foreign {
  const { user, content, subject_type: _, created_at: __, ...rest } = objectOf(reaction)
  at.leaveRest(rest)
  return { user_id: 0, ...filled({ user_name: lastIn(user) }), content: content === 'tada' ? 'hooray' : content }
}

function stateOf({ closed_at }: Foreign): 'open' | 'closed' {
  return says(closed_at) ? 'closed' : 'open'
}

/** Returns the number at the end of an address, or what is in its place. */
function numberIn(address: unknown): unknown {
  const [, number] = /\/(\d+)$/.exec(textOf(address)) ?? []
  return number === undefined ? address : Number(number)
}

/** Returns what is behind the last slash of an address, or what is in its place. */
function lastIn(address: unknown): unknown {
  return typeof address === 'string' ? address.slice(address.lastIndexOf('/') + 1) : address
}
