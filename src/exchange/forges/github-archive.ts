import { invalidDocument } from '../../schema/invalid-document.ts'
import { NumberMap } from '../../schema/number-map.ts'
import type { Path } from '../documents/source-record.ts'
import { ConversionState } from './conversion-state.ts'
import { filled, hasProperties, leaveRest, listOf, objectOf, says, textOf } from './foreign.ts'
import type { Conversion, ConversionOptions, Findings, Foreign, ForgeFormat } from './forge-format.ts'
import { leave, NO_FINDINGS, rootOf, within } from './forge-format.ts'
import { restComment, restIssues, restLabel, restMilestone } from './rest.ts'

/** What GitHub writes to export an account or to migrate: lists of a hundred records each, of one repository or several. */
export const githubArchiveFormat: ForgeFormat = {
  name: 'github-archive',
  recognizes: (record) => hasProperties(record, 'type', 'url', 'repository') && objectOf(record)['type'] === 'issue',
  open() {
    throw refusal('folder', 'expected the whole archive: its other lists have the comments, and what is locked')
  },
  folder: {
    rootIn: (files) => rootOf(files, 'issues_000001.json') ?? rootOf(files, 'repositories_000001.json'),
    async *read({ options, files, read }) {
      for (const [kind, conversion] of Object.entries(listsOf(options))) {
        for (const file of files) if (file.replace(/_\d+\.json$/, '') === kind) yield* read(file, () => conversion)
      }
    },
    wordOf: (file) => (file === 'schema.json' ? undefined : 'file'),
  },
}

/** Returns the lists that are read, in their order. What others name by its address precedes them. */
function listsOf(options: ConversionOptions): { readonly [kind: string]: Conversion } {
  const { sourceRepository: wanted } = options
  const state = new ConversionState()
  const rest = restIssues(state, true)
  /** Labels and milestones by their addresses, and e-mail addresses by those of the users. */
  const known = new Map<unknown, unknown>()
  /** When an issue was locked last, in milliseconds; negative: when it was unlocked. */
  const locks = new NumberMap()
  const repositories: string[] = []
  let chosen: string | undefined

  const userOf = (address: unknown) => says(address) && { id: 0, login: lastIn(address), email: known.get(address) }
  const all = (convert: Conversion['convert']): Conversion => ({ state, convert })
  /** Converts the records of the repository that is read. */
  const here = (convert: Conversion['convert']): Conversion =>
    all((record, findings, path) => {
      if (chosen === undefined || (wanted === undefined && repositories.length > 1)) {
        throw refusal('repository', `expected sourceRepository (--source-repo) to be one of ${repositories.join(', ')}`)
      }
      const addresses = ['repository', 'issue', 'pull_request', 'issue_comment', 'url'].map((name) => record[name])
      const isHere = addresses.some((address) => `${textOf(address)}/`.startsWith(`${chosen}/`))
      return isHere ? convert(record, findings, path) : []
    })
  const users = all(({ url, emails }) => {
    const { address } = objectOf(listOf(emails).find((email) => says(objectOf(email)['primary'])))
    if (!/@users\.noreply\./.test(textOf(address))) known.set(url, address) // GitHub hides the real one
    return []
  })

  return {
    repositories: all(({ url, labels }, findings) => {
      const name = textOf(url).split('/').slice(-2).join('/')
      repositories.push(name)
      const isChosen = wanted === undefined ? chosen === undefined : name.toLowerCase() === wanted.toLowerCase()
      if (!isChosen) return leave(findings, 'other_repository')
      chosen = textOf(url)
      return listOf(labels).map((each, at) => {
        const { url: address, created_at: _, ...record } = objectOf(each)
        known.set(address, record)
        return { kind: 'label', label: restLabel(record, state, within(findings, ['labels', at])) }
      })
    }),
    users,
    bots: users,
    milestones: here(({ type: _, url, repository: __, user: ___, ...others }, findings) => {
      const milestone = { state: stateOf(others), ...others }
      known.set(url, milestone)
      return restMilestone(milestone, state, findings)
    }),
    issue_events: here(({ issue, event, created_at }, findings) => {
      const [number, at] = [Number(textOf(numberIn(issue))), Date.parse(textOf(created_at))]
      const isLater = at >= Math.abs(locks.get(number) ?? 0)
      if (isLater && (event === 'locked' || event === 'unlocked')) locks.set(number, event === 'locked' ? at : -at)
      return leave(findings, 'issue_events')
    }),
    issues: here(({ type: _, url, user, labels, milestone, reactions, assignee, assignees, ...others }, findings) => {
      const issue = {
        state: stateOf(others),
        locked: (locks.get(Number(textOf(numberIn(url)))) ?? 0) > 0,
        ...others,
        number: numberIn(url),
        user: userOf(user) || null,
        labels: listOf(labels).map((address) => known.get(address) ?? lastIn(address)),
        milestone: known.get(milestone),
        reactions: reactionsOf(reactions, findings),
        assignees: [...listOf(assignees), ...listOf(assignee)].map(userOf),
      }
      return rest.convert(issue, withoutLinks(findings), [])
    }),
    pull_requests: here(({ url }, findings) => {
      findings.leftOut(numberIn(url))
      return leave(findings, 'pull_request')
    }),
    issue_comments: here((record, findings) => {
      const { type: _, url: __, issue, pull_request, user, formatter: ___, reactions, ...others } = record
      if (says(pull_request)) return leave(findings, 'pull_request_comments')
      if (!state.hasIssue(Number(textOf(numberIn(issue))))) return leave(findings, 'comments')
      const of = { user: userOf(user) || null, reactions: reactionsOf(reactions, findings) }
      const comment = { updated_at: others['created_at'], ...others, ...of }
      return restComment(numberIn(issue), comment, options, withoutLinks(findings))
    }),
    attachments: here((_, findings) => leave(findings, 'attachment')),
  }
}

/** The links to attachments in a text: a list has their files. */
function withoutLinks(findings: Findings): Findings {
  const notCarried = (what: string, path: Path, count?: number): void => {
    if (path[0] !== 'body') findings.notCarried(what, path, count)
  }
  return { ...NO_FINDINGS, notCarried }
}

function reactionsOf(reactions: unknown, findings: Findings): readonly Foreign[] {
  return listOf(reactions).map((reaction, at) => {
    const { user, content, subject_type: _, created_at: __, ...rest } = objectOf(reaction)
    leaveRest(rest, within(findings, ['reactions', at]))
    return { user_id: 0, ...filled({ user_name: lastIn(user) }), content: content === 'tada' ? 'hooray' : content }
  })
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
  return typeof address === 'string' ? address.replace(/.*\//s, '') : address
}

function refusal(code: string, message: string): Error {
  return invalidDocument([{ pointer: '', code, message }])
}
