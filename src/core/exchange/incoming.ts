import { canonicalIssue, canonicalReaction } from '../../schema/canonical-issue.ts'
import { canonicalDateTime } from '../../schema/date-time.ts'
import type { CommentRecord, IssueRecord, SourcePosition } from '../../schema/issue-record.ts'
import { isPlaceholder } from '../../schema/placeholder-names.ts'
import type { IncomingComment, IncomingIssue } from './issue-tracker.ts'
import type { Accounts, Person } from './people.ts'

/** Who is meant by the names in a document. */
export interface NameMapping {
  /** Names in the document, and names on this host. Null: the person has no account here. */
  readonly users: ReadonlyMap<string, string | null>
  /** Whether people are looked up among the accounts. */
  readonly attributes: boolean
}

/** An issue or a comment in its canonical form, and the people whom it names. */
export interface WithPeople<Of extends IssueRecord | CommentRecord> {
  readonly record: Of
  readonly poster: Person
  /** Those of `record.assignees`, in the same order. */
  readonly assignees: readonly Person[]
  /** Those of `record.reactions`, in the same order. */
  readonly reactors: readonly Person[]
}

/** An issue or a comment of a document. */
export interface Candidate<Of extends IssueRecord | CommentRecord> extends WithPeople<Of> {
  /** Where the record is in its source. Its pointer counts the records that were passed if the source does not know. */
  readonly position: SourcePosition
}

/** The names on the host are its own. */
const AS_NAMED: NameMapping = { users: new Map(), attributes: true }

/** Prepares an issue of a document, or one that the host has. */
export function issueWithPeople(issue: IssueRecord, naming: NameMapping = AS_NAMED): WithPeople<IssueRecord> {
  return withPeople(canonicalIssue(issue), naming)
}

/** Prepares a comment of a document, or one that the host has. */
export function commentWithPeople(comment: CommentRecord, naming: NameMapping = AS_NAMED): WithPeople<CommentRecord> {
  return withPeople(canonicalComment(comment), naming)
}

/** Returns everyone whom a record names. */
export function peopleIn({ poster, assignees, reactors }: WithPeople<IssueRecord | CommentRecord>): readonly Person[] {
  return [poster, ...assignees, ...reactors]
}

/** Returns an issue as a tracker writes it. */
export function incomingIssue(issue: Candidate<IssueRecord>, accounts: Accounts): IncomingIssue {
  const { closed } = issue.record
  return {
    assigneeIds: issue.assignees.map((person) => accounts.idOf(person)),
    closedAt: closed ? new Date(closed) : null,
    ...incomingComment(issue, accounts),
  }
}

/** Returns a comment, or what an issue has in common with one, as a tracker writes it. */
export function incomingComment<Of extends IssueRecord | CommentRecord>(
  { record, poster, reactors }: Candidate<Of>,
  accounts: Accounts,
): Omit<IncomingComment, 'record'> & { readonly record: Of } {
  return {
    record,
    posterId: accounts.idOf(poster),
    reactionUserIds: reactors.map((person) => accounts.idOf(person)),
    createdAt: new Date(record.created),
    updatedAt: new Date(record.updated),
  }
}

/** Returns the canonical form of a comment, with the same rules as those of an issue. */
function canonicalComment(comment: CommentRecord): CommentRecord {
  const { poster_email, reactions } = comment
  return {
    issue_number: comment.issue_number,
    poster_id: comment.poster_id,
    poster_name: comment.poster_name,
    ...(poster_email && { poster_email }),
    created: canonicalDateTime(comment.created),
    updated: canonicalDateTime(comment.updated),
    content: comment.content,
    ...(reactions?.length && { reactions: reactions.map(canonicalReaction) }),
  }
}

function withPeople<Of extends IssueRecord | CommentRecord>(
  canonical: Of,
  { users, attributes }: NameMapping,
): WithPeople<Of> {
  const { poster_id, poster_name, poster_email, reactions = [] } = canonical
  const assignees = 'assignees' in canonical ? (canonical.assignees ?? []) : []
  const renamed = (name: string): string => users.get(name) ?? name
  const person = (name: string, id?: number, email?: string): Person => {
    const mayHaveAccount = attributes && name !== '' && users.get(name) !== null
    return {
      user: { id, name: renamed(name), email },
      original: name,
      mayHaveAccount,
      isSought: mayHaveAccount && (users.has(name) || !isPlaceholder(name, id)),
    }
  }
  const names = () => ({
    poster_name: renamed(poster_name),
    ...(assignees.length > 0 && { assignees: assignees.map(renamed) }),
    ...(reactions.length > 0 && {
      reactions: reactions.map((each) => (each.user_name ? { ...each, user_name: renamed(each.user_name) } : each)),
    }),
  })
  return {
    record: users.size === 0 ? canonical : { ...canonical, ...names() },
    poster: person(poster_name, poster_id, poster_email),
    assignees: assignees.map((name) => person(name)),
    reactors: reactions.map(({ user_id, user_name = '' }) => person(user_name, user_id)),
  }
}
