import { GHOST, nameOfId } from '../../schema/placeholder-names.ts'
import type { Path } from '../documents/source-record.ts'
import { ConversionState } from './conversion-state.ts'
import { filled, hasProperties, listOf, objectOf, says } from './foreign.ts'
import type { Conversion, ConversionOptions, Findings, FolderReading, Foreign, ForgeFormat } from './forge-format.ts'
import { filesNamed, rootOf, within } from './forge-format.ts'
import {
  gitlabComment,
  gitlabIssue,
  isHidden,
  isNoComment,
  labelOf,
  leaveOthers,
  milestoneOf,
} from './gitlab-records.ts'

const ISSUES = 'issues.ndjson'
/** What every export has, with or without issues. Those before GitLab 13 have the issues in it, and no folder `tree`. */
const PROJECT = 'tree/project.json'

/** An unpacked project export of GitLab. Its issues alone are a list without the names of users. */
export const gitlabFormat: ForgeFormat = {
  name: 'gitlab',
  recognizes: (record) => hasProperties(record, 'iid', 'author_id', 'created_at'),
  open: (options) => ({ issues: issues(new ConversionState(), new Map(), options) }),
  folder: {
    rootIn,
    async *read(folder) {
      for (const [name, conversion] of listsOf(folder)) yield* folder.read(name, () => conversion)
    },
    wordOf: (file) => (file === 'merge_requests.ndjson' ? 'pull_request' : 'file'),
  },
}

/** From GitLab 16.11 on an export does not have the files of lists without records. */
function rootIn(files: readonly string[]): string | undefined {
  if (filesNamed(files, ISSUES).length > 0) return rootOf(files, ISSUES)
  const root = rootOf(files, PROJECT)
  return root === undefined ? undefined : `${root}tree/project/`
}

/** The lists that are read, in their order. */
function listsOf({ options }: FolderReading): readonly (readonly [name: string, conversion: Conversion])[] {
  const [state, people]: [ConversionState, People] = [new ConversionState(), new Map()]
  const label: Conversion['convert'] = (record, findings) => [
    { kind: 'label', label: labelOf(record, 'title', state, findings) },
  ]
  const milestone: Conversion['convert'] = (record, findings) => milestoneOf(record, state, findings)
  return [
    ['project_members.ndjson', members(people)],
    ['labels.ndjson', { state, convert: label }],
    ['milestones.ndjson', { state, convert: milestone }],
    [ISSUES, issues(state, people, options)],
  ]
}

/** The members of a project, by id. The other records have only the ids of users. */
type People = Map<unknown, Foreign>

function members(people: People): Conversion {
  return {
    convert({ user }, findings) {
      const { id, username: poster_name, public_email: poster_email } = objectOf(user)
      if (says(poster_name)) people.set(id, { poster_name, poster_email })
      else if (says(id)) findings.notCarried('user_name', ['user'])
      return []
    },
  }
}

/** A name for a user of whom the source has only the id. */
function nameOf(id: unknown): string {
  return nameOfId(says(id) ? id : GHOST.poster_id)
}

/** Names of reactions that differ in Gitea. Others are the same. */
const REACTIONS: ReadonlyMap<unknown, string> = new Map([
  ['thumbsup', '+1'],
  ['thumbsdown', '-1'],
  ['tada', 'hooray'],
  ['laughing', 'laugh'],
])

function issues(state: ConversionState, people: People, options: ConversionOptions): Conversion {
  /** Who left the project is not among its members. */
  const posterOf = (author: unknown, path: Path, findings: Findings): Foreign => {
    const id = author ?? 0
    const poster_name = nameOf(id)
    if (!people.has(id)) findings.nameless(poster_name, path)
    return { poster_id: id, poster_name, ...people.get(id) }
  }
  const reactionsOf = (awards: unknown, findings: Findings): readonly Foreign[] =>
    listOf(awards).map((award, at) => {
      const { name, user_id, awardable_type: _, ...rest } = objectOf(award)
      leaveOthers(rest, within(findings, ['award_emoji', at]))
      const user_name = people.get(user_id)?.['poster_name']
      return { user_id, ...filled({ user_name }), content: REACTIONS.get(name) ?? name }
    })
  const labelOfLink = (link: unknown, findings: Findings): unknown =>
    labelOf(objectOf(objectOf(link)['label']), 'title', state, findings)
  const assigneeOf = (assignee: unknown, path: Path, findings: Findings): unknown =>
    posterOf(objectOf(assignee)['user_id'], path, findings)['poster_name']

  return {
    state,
    convert(record, findings) {
      if (isHidden(record, options, findings)) return []

      const { author_id, label_links, award_emoji, issue_assignees, notes, ...issue } = record
      const names = listOf(issue_assignees).map((each, at) => assigneeOf(each, ['issue_assignees', at], findings))
      const author = posterOf(author_id, [], findings)
      const lists = {
        labels: listOf(label_links).map((link, at) =>
          labelOfLink(link, within(findings, ['label_links', at, 'label'])),
        ),
        reactions: reactionsOf(award_emoji, findings),
        assignees: [...new Set(names)],
      }
      const threads = new Set<unknown>()
      const comments = listOf(notes).flatMap((each, at) => {
        const { author_id: by, author: displayed, award_emoji: awards, ...note } = objectOf(each)
        const [path, ofNote] = [['notes', at], within(findings, ['notes', at])]
        if (says(by)) findings.displayed(nameOf(by), objectOf(displayed)['name'])
        if (isNoComment(note, options, ofNote)) return []
        const lists = { reactions: reactionsOf(awards, ofNote) }
        const head = { issue_number: record['iid'], lists, ...posterOf(by, path, findings) }
        return gitlabComment(head, note, 'note', threads, ofNote)
      })
      return [...gitlabIssue(issue, author, lists, state, findings), ...comments]
    },
  }
}
