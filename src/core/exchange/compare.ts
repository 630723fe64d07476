import { canonicalIssue } from '../../schema/canonical-issue.ts'
import type { CommentRecord, IssueRecord, ReactionRecord } from '../../schema/issue-record.ts'
import type { Candidate } from './incoming.ts'
import { canonicalComment } from './incoming.ts'
import type { ForeignUser } from './issue-tracker.ts'
import type { Accounts } from './people.ts'
import { assigneeOf, posterOf, reactorOf } from './people.ts'

/** Properties that are compared as they are, in the order of the schema. */
const PLAIN = ['title', 'content', 'ref', 'milestone', 'state', 'is_locked', 'created', 'updated', 'closed'] as const

/**
 * Returns the first property in which an issue of a document differs from the host's issue of its number. Lists are
 * compared without their order and repetitions. Of labels only the names are compared, because a label keeps the color
 * that it has; e-mail addresses only if both have one, because they may be hidden from the caller. People are the same
 * if their texts or their accounts are. Source: docs/behaviour.md, Exchange
 */
export function firstDifference(
  { record, poster, assignees, reactors }: Candidate<IssueRecord>,
  existing: IssueRecord,
  accounts: Accounts,
): keyof IssueRecord | undefined {
  const host = canonicalIssue(existing)
  const [author, hostAuthor] = [named(posterOf(record), poster, accounts), hostNamed(posterOf(host), accounts)]
  if (!isSame([author], [hostAuthor])) return record.poster_name === host.poster_name ? 'poster_id' : 'poster_name'
  if (accounts.idOf(poster) === null && differs(record.poster_email, host.poster_email)) return 'poster_email'

  const plain = PLAIN.find((name) => record[name] !== host[name])
  if (plain !== undefined) return plain
  if (!isSame(labelsOf(record), labelsOf(host))) return 'labels'
  if (!isSame(reactionsOf(record, reactors, accounts), reactionsOf(host, undefined, accounts))) return 'reactions'
  return isSame(assigneesOf(record, assignees, accounts), assigneesOf(host, undefined, accounts))
    ? undefined
    : 'assignees'
}

/** Returns the texts that identify a comment: its issue, its author by text and by account, its time and its content. */
export function commentIdentities({ record, poster }: Candidate<CommentRecord>, accounts: Accounts): Identities {
  return commentKeys(record, named(posterOf(record), poster, accounts))
}

/** Same as `commentIdentities`, for a comment of the host. */
export function hostCommentIdentities(comment: CommentRecord, accounts: Accounts): Identities {
  const record = canonicalComment(comment)
  return commentKeys(record, hostNamed(posterOf(record), accounts))
}

/** Returns the people whom the host's own records name. */
export function* peopleOfHost(record: IssueRecord | CommentRecord): Generator<ForeignUser, void, void> {
  yield posterOf(record)
  if ('assignees' in record) for (const name of record.assignees ?? []) yield assigneeOf(name)
  for (const reaction of record.reactions ?? []) yield reactorOf(reaction)
}

/** The texts that identify one thing. Two things are the same if they have one in common. */
type Identities = readonly string[]

function named(text: ForeignUser, person: ForeignUser | undefined, accounts: Accounts): Identities {
  const id = accounts.idOf(person)
  const asText = `text ${text.id ?? ''} ${text.name}`
  return id === null ? [asText] : [asText, `account ${id}`]
}

function hostNamed(person: ForeignUser, accounts: Accounts): Identities {
  return named(person, person, accounts)
}

function commentKeys({ issue_number, created, content }: CommentRecord, author: Identities): Identities {
  return author.map((identity) => JSON.stringify([issue_number, identity, created, content]))
}

function labelsOf({ labels = [] }: IssueRecord): readonly Identities[] {
  return labels.map(({ name }) => [name])
}

function assigneesOf(
  { assignees = [] }: IssueRecord,
  people: Candidate<IssueRecord>['assignees'] | undefined,
  accounts: Accounts,
): readonly Identities[] {
  return assignees.map((name, index) => {
    const text = assigneeOf(name)
    return people === undefined ? hostNamed(text, accounts) : named(text, people[index], accounts)
  })
}

function reactionsOf(
  { reactions = [] }: IssueRecord,
  people: Candidate<IssueRecord>['reactors'] | undefined,
  accounts: Accounts,
): readonly Identities[] {
  return reactions.map((reaction: ReactionRecord, index) => {
    const text = reactorOf(reaction)
    const user = people === undefined ? hostNamed(text, accounts) : named(text, people[index], accounts)
    return user.map((identity) => JSON.stringify([identity, reaction.content]))
  })
}

function differs(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

/** Returns whether each thing of one list is in the other. */
function isSame(one: readonly Identities[], other: readonly Identities[]): boolean {
  if (one.length === 0 || other.length === 0) return one.length === other.length
  return areIn(one, other) && areIn(other, one)
}

function areIn(things: readonly Identities[], others: readonly Identities[]): boolean {
  const all = new Set(others.flat())
  return things.every((thing) => thing.some((identity) => all.has(identity)))
}
