import type { ConvertedBatch } from '../documents/converted-batch.ts'
import type { Path } from '../documents/record-batch.ts'
import { ConversionState } from './conversion-state.ts'
import { filled, hasProperties, leaveRest, listOf, objectOf, says } from './foreign.ts'
import type {
  Conversion,
  ConversionOptions,
  Findings,
  FolderReading,
  Foreign,
  ForgeFormat,
  Made,
} from './forge-format.ts'
import { fileNamed, reportLinks } from './forge-format.ts'

/** An unpacked project export of GitLab. Its issues alone are a list without the names of users. */
export const gitlabFormat: ForgeFormat = {
  name: 'gitlab',
  recognizes: (record) => hasProperties(record, 'iid', 'author_id', 'created_at'),
  open: (options) => issues(new ConversionState(), new Map(), options),
  folder: { issuesFile: (names) => fileNamed(names, ISSUES), read: readFolder },
}

const ISSUES = 'issues.ndjson'
/** A text of GitLab links to an attachment by a hash. */
export const ATTACHMENT: RegExp = /\/uploads\/[0-9a-f]{32}\//g
/** The states of issues and milestones that have another name here. */
export const STATES: ReadonlyMap<unknown, string> = new Map([
  ['opened', 'open'],
  ['active', 'open'],
])
/** Names of reactions that differ in Gitea. Others are the same. */
const REACTIONS: ReadonlyMap<unknown, string> = new Map([
  ['thumbsup', '+1'],
  ['thumbsdown', '-1'],
  ['tada', 'hooray'],
  ['laughing', 'laugh'],
])

/** The members of a project, by id. The other records have only the ids of users. */
type People = Map<unknown, Foreign>

async function* readFolder(folder: FolderReading): AsyncGenerator<ConvertedBatch, void, void> {
  const issuesFile = fileNamed(folder.names, ISSUES) ?? ISSUES
  const root = issuesFile.slice(0, -ISSUES.length)
  const [state, people]: [ConversionState, People] = [new ConversionState(), new Map()]
  const carried: Conversion['carried'] = (records) => state.carried(records)
  const lists: readonly (readonly [name: string, conversion: Conversion])[] = [
    ['project_members.ndjson', members(people)],
    ['labels.ndjson', { carried, convert: (each, findings) => [labelRecord(each, state, findings)] }],
    ['milestones.ndjson', { carried, convert: (each, findings) => milestoneOf(each, [], state, findings) }],
    [ISSUES, issues(state, people, folder.options)],
  ]
  const unread = new Set(folder.names)
  for (const [name, conversion] of lists) {
    if (unread.delete(`${root}${name}`)) yield* folder.read(`${root}${name}`, conversion)
  }
  for (const name of unread) folder.leave(name === `${root}merge_requests.ndjson` ? 'pull_request' : 'file', name)
}

function members(people: People): Conversion {
  return {
    convert({ user, ...rest }, findings) {
      const { id, username, public_email } = objectOf(user)
      people.set(id, { poster_name: username, ...filled({ poster_email: public_email }) })
      leaveRest(rest, [], findings)
      return []
    },
  }
}

/** Whether not every reader may see a record. It is reported also where it is kept: exchange records do not say so. */
export function isLeftOut(
  { confidential, internal }: Foreign,
  path: Path,
  options: ConversionOptions,
  findings: Findings,
): boolean {
  if (!says(confidential) && !says(internal)) return false
  findings.notCarried('confidential', path)
  return options.confidential !== 'keep'
}

function issues(state: ConversionState, people: People, options: ConversionOptions): Conversion {
  /** Who left the project is not among its members. A name of its own for each, so that a map of names can replace it. */
  const posterOf = (author: unknown, path: Path, findings: Findings): Foreign => {
    const id = author ?? 0
    if (!people.has(id)) findings.notCarried('user_name', path)
    return { poster_id: id, poster_name: id === 0 ? 'ghost' : `user-${String(id)}`, ...people.get(id) }
  }
  const reactionOf = (award: unknown, path: Path, findings: Findings): Foreign => {
    const { name, user_id, awardable_type: _, ...rest } = objectOf(award)
    leaveRest(rest, path, findings)
    const user_name = people.get(user_id)?.['poster_name']
    return { user_id, ...filled({ user_name }), content: REACTIONS.get(name) ?? name }
  }
  const reactionsOf = (awards: unknown, path: Path, findings: Findings): readonly Foreign[] =>
    listOf(awards).map((award, at) => reactionOf(award, [...path, 'award_emoji', at], findings))

  const commentOf = (issue_number: unknown, note: Foreign, path: Path, findings: Findings): readonly Made[] => {
    const { note: content, author_id, author: _, system, noteable_type: __, ...others } = note
    if (says(system)) {
      findings.notCarried('system_note', path)
      return []
    }
    if (isLeftOut(note, path, options, findings)) return []

    const { created_at, updated_at, award_emoji, confidential: ___, internal: ____, ...rest } = others
    reportLinks(ATTACHMENT, content, [...path, 'note'], findings)
    leaveRest(rest, path, findings)
    const times = { created: created_at, updated: updated_at }
    const poster = posterOf(author_id, path, findings)
    const reactions = reactionsOf(award_emoji, path, findings)
    return [{ kind: 'comment', comment: { issue_number, ...poster, ...times, content: content ?? '', reactions } }]
  }

  const labelOfLink = (link: unknown, path: Path, findings: Findings): unknown => {
    const { label, target_type: _, ...rest } = objectOf(link)
    leaveRest(rest, path, findings)
    return labelOf(objectOf(label), [...path, 'label'], state, findings)
  }
  const assigneeOf = (assignee: unknown, path: Path, findings: Findings): unknown => {
    const { user_id, ...rest } = objectOf(assignee)
    leaveRest(rest, path, findings)
    return posterOf(user_id, path, findings)['poster_name']
  }

  return {
    carried: (records) => state.carried(records),
    convert(record, findings) {
      if (isLeftOut(record, [], options, findings)) return []

      const { iid, author_id, title, description, state: status, discussion_locked, milestone, ...others } = record
      const { created_at, updated_at, closed_at, label_links, award_emoji, issue_assignees, notes, ...more } = others
      const { confidential: _, internal: __, ...rest } = more
      reportLinks(ATTACHMENT, description, ['description'], findings)
      leaveRest(rest, [], findings)
      const assignees = listOf(issue_assignees).map((each, at) => assigneeOf(each, ['issue_assignees', at], findings))
      const issue = {
        number: iid,
        ...posterOf(author_id, [], findings),
        title,
        content: description ?? '',
        ...filled({ milestone: objectOf(milestone)['title'], closed: closed_at }),
        state: STATES.get(status) ?? status,
        is_locked: discussion_locked ?? false,
        created: created_at,
        updated: updated_at,
        labels: listOf(label_links).map((link, at) => labelOfLink(link, ['label_links', at], findings)),
        reactions: reactionsOf(award_emoji, [], findings),
        assignees: [...new Set(assignees)],
      }
      return [
        ...(says(milestone) ? milestoneOf(objectOf(milestone), ['milestone'], state, findings) : []),
        { kind: 'issue', issue },
        ...listOf(notes).flatMap((note, at) => commentOf(iid, objectOf(note), ['notes', at], findings)),
      ]
    },
  }
}

function labelRecord(record: Foreign, state: ConversionState, findings: Findings): Made {
  return { kind: 'label', label: labelOf(record, [], state, findings) }
}

/** Returns a label, or the first one of its name. */
export function labelOf(record: Foreign, path: Path, state: ConversionState, findings: Findings): unknown {
  const { title: name, color, description, type: _, ...rest } = record
  leaveRest(rest, path, findings)
  const bare = typeof color === 'string' ? color.replace(/^#/, '') : color
  return state.label({ name, ...filled({ color: bare, description }) }, path, findings)
}

/** Returns a milestone, unless it was carried before. */
export function milestoneOf(record: Foreign, path: Path, state: ConversionState, findings: Findings): readonly Made[] {
  const { title, description, due_date, created_at: created, updated_at: updated, state: status, ...rest } = record
  leaveRest(rest, path, findings)
  const deadline = says(due_date) ? `${String(due_date)}T00:00:00Z` : undefined
  const filledTimes = filled({ description, deadline, created, updated })
  return state.milestone({ title, ...filledTimes, state: STATES.get(status) ?? status }, path, findings)
}
