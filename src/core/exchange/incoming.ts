import { canonicalIssue, canonicalReaction } from '../../schema/canonical-issue.ts'
import { canonicalDateTime } from '../../schema/date-time.ts'
import type { CommentRecord, IssueRecord, SourcePlace } from '../../schema/issue-record.ts'
import type { ForeignUser, IncomingComment, IncomingIssue } from './issue-tracker.ts'
import type { Accounts } from './people.ts'
import { assigneeOf, posterOf, reactorOf } from './people.ts'

/** Who is meant by the names in a document. */
export interface Naming {
  /** Names in the document, and names on this host. Null: the person has no account here. */
  readonly users: ReadonlyMap<string, string | null>
  /** Whether people are looked up among the accounts. */
  readonly attributes: boolean
}

/** An issue or a comment in its canonical form, with the people who may have an account here. */
export interface WithPeople<Of extends IssueRecord | CommentRecord> {
  readonly record: Of
  readonly poster: ForeignUser | undefined
  readonly assignees: readonly (ForeignUser | undefined)[]
  readonly reactors: readonly (ForeignUser | undefined)[]
}

/** An issue or a comment of a document. */
export interface Candidate<Of extends IssueRecord | CommentRecord> extends WithPeople<Of> {
  /** Where the record is in its source. Its pointer counts the records that were passed if the source does not know. */
  readonly place: SourcePlace
}

/** Prepares an issue of a document. */
export function issueCandidate(issue: IssueRecord, place: SourcePlace, naming: Naming): Candidate<IssueRecord> {
  return { place, ...peopleOf(issue, renamedIssue(canonicalIssue(issue), naming), naming) }
}

/** Prepares a comment of a document. */
export function commentCandidate(comment: CommentRecord, place: SourcePlace, naming: Naming): Candidate<CommentRecord> {
  return { place, ...peopleOf(comment, renamedPoster(canonicalComment(comment), naming), naming) }
}

/** Prepares an issue that the host has. */
export function issueOfHost(issue: IssueRecord): WithPeople<IssueRecord> {
  return peopleOf(issue, canonicalIssue(issue), AS_NAMED)
}

/** Prepares a comment that the host has. */
export function commentOfHost(comment: CommentRecord): WithPeople<CommentRecord> {
  return peopleOf(comment, canonicalComment(comment), AS_NAMED)
}

const AS_NAMED: Naming = { users: new Map(), attributes: true }

/** Returns all people of a record who are looked up. */
export function* peopleToFind({
  poster,
  assignees,
  reactors,
}: WithPeople<IssueRecord | CommentRecord>): Generator<ForeignUser | undefined, void, void> {
  yield poster
  yield* assignees
  yield* reactors
}

/** Returns an issue as a tracker writes it. */
export function incomingIssue(
  { record, poster, assignees, reactors }: Candidate<IssueRecord>,
  accounts: Accounts,
): IncomingIssue {
  return {
    record,
    posterId: accounts.idOf(poster),
    assigneeIds: assignees.map((person) => accounts.idOf(person)),
    reactionUserIds: reactors.map((person) => accounts.idOf(person)),
    createdAt: new Date(record.created),
    updatedAt: new Date(record.updated),
    closedAt: record.closed ? new Date(record.closed) : null,
  }
}

/** Returns a comment as a tracker writes it. */
export function incomingComment(
  { record, poster, reactors }: Candidate<CommentRecord>,
  accounts: Accounts,
): IncomingComment {
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

/** @param named - the record with the names that the document has */
function peopleOf<Of extends IssueRecord | CommentRecord>(
  named: IssueRecord | CommentRecord,
  record: Of,
  { users, attributes }: Naming,
): WithPeople<Of> {
  const reactions = named.reactions ?? []
  const assignees = 'assignees' in named ? (named.assignees ?? []) : []
  if (!attributes) {
    return { record, poster: undefined, assignees: assignees.map(noPerson), reactors: reactions.map(noPerson) }
  }
  const find = (name: string | undefined, person: (as: string) => ForeignUser): ForeignUser | undefined => {
    const as = name === undefined ? null : renamed(name, users)
    return as === null ? undefined : person(as)
  }
  return {
    record,
    poster: find(named.poster_name, () => posterOf(record)),
    assignees: assignees.map((name) => find(name, assigneeOf)),
    reactors: reactions.map((reaction) => find(reaction.user_name, (as) => reactorOf({ ...reaction, user_name: as }))),
  }
}

function noPerson(): undefined {
  return undefined
}

function renamedIssue(issue: IssueRecord, naming: Naming): IssueRecord {
  const { assignees } = issue
  if (assignees === undefined) return renamedPoster(issue, naming)
  return { ...renamedPoster(issue, naming), assignees: assignees.map((name) => renamed(name, naming.users) ?? name) }
}

/** Replaces the names of the author and of the users of reactions. */
function renamedPoster<Of extends IssueRecord | CommentRecord>(record: Of, { users }: Naming): Of {
  if (users.size === 0) return record

  const { reactions } = record
  return {
    ...record,
    poster_name: renamed(record.poster_name, users) ?? record.poster_name,
    ...(reactions && {
      reactions: reactions.map((reaction) => {
        const name = reaction.user_name === undefined ? undefined : renamed(reaction.user_name, users)
        return name ? { ...reaction, user_name: name } : reaction
      }),
    }),
  }
}

/** Returns the name of a person on this host. Null: the person has no account here. */
function renamed(name: string, users: Naming['users']): string | null {
  const as = users.get(name)
  return as === undefined ? name : as
}
