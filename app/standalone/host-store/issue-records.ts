import type { CommentRecord, Id, IncomingComment, IncomingIssue, IssueRecord, LabelRecord, NamedPerson } from 'forgelet'
import { idOf } from './roles.ts'

// The records of issues and comments, as they are stored.

/** Names in a record, with the ids of their accounts. */
export type StoredAccounts = readonly (readonly [name: string, id: number])[]

/**
 * An issue as it is stored: with the ids of its labels, in the order of the document, which may repeat one, and with the
 * accounts of the people whom it names.
 */
export type StoredIssue = Omit<IssueRecord, 'labels'> & {
  readonly labels?: readonly number[]
  readonly accounts?: StoredAccounts
}

/** A comment as it is stored: with the accounts of the people whom it names. */
export type StoredComment = CommentRecord & { readonly accounts?: StoredAccounts }

/** Returns the account of the author. Undefined: it was imported, and the author has no account here. */
export function authorOf({ poster_name, accounts }: StoredIssue): number | undefined {
  return accounts?.find(([name]) => name === poster_name)?.[1]
}

/** Returns the accounts of the assignees, each once. */
export function assigneesOf({ assignees = [], accounts }: StoredIssue): readonly number[] {
  const known = new Map(accounts)
  return [...new Set(assignees.flatMap((name) => known.get(name) ?? []))]
}

/** Stores an issue of an import. The properties stay in the order of the schema. */
export function storedIssue(incoming: IncomingIssue, labelIds: ReadonlyMap<string, number>): StoredIssue {
  const { labels, ...others } = incoming.record
  const ids = labels?.flatMap(({ name }) => labelIds.get(name) ?? [])
  return withAccounts(ids === undefined ? others : { ...incoming.record, labels: ids }, accountsIn(incoming))
}

/** Stores a comment of an import. */
export function storedComment(incoming: IncomingComment): StoredComment {
  return withAccounts(incoming.record, accountsIn(incoming))
}

/** Stores a comment in place of another, whose people keep their accounts. */
export function replacedComment(incoming: IncomingComment, before: StoredComment): StoredComment {
  const accounts = new Map(before.accounts)
  const author = accounts.get(before.poster_name)
  if (author !== undefined) accounts.set(incoming.record.poster_name, author)
  for (const [name, id] of accountsIn(incoming)) accounts.set(name, id)
  return withAccounts(incoming.record, [...accounts])
}

/** The reverse of `storedIssue`. */
export function shownIssue(issue: StoredIssue, labels: ReadonlyMap<number, LabelRecord>): IssueRecord {
  const { accounts: _, ...shown } = issue
  const { labels: ids, ...others } = shown
  return ids === undefined ? others : { ...shown, labels: ids.flatMap((id) => labels.get(id) ?? []) }
}

/** The reverse of `storedComment`. */
export function shownComment({ accounts: _, ...record }: StoredComment): CommentRecord {
  return record
}

/** Returns everyone whom a record names. */
export function peopleIn(record: StoredIssue | StoredComment): readonly NamedPerson[] {
  const known = new Map(record.accounts)
  const [number, part] =
    'issue_number' in record ? ([record.issue_number, 'comments'] as const) : ([record.number, 'issues'] as const)
  const person = (named: NamedPerson['part'], name: string): NamedPerson => {
    return { number, part: named, name, hasAccount: known.has(name) }
  }
  return [
    person(part, record.poster_name),
    ...('assignees' in record ? (record.assignees ?? []) : []).map((name) => person('assignees', name)),
    ...(record.reactions ?? []).flatMap(({ user_name }) => (user_name ? person('reactions', user_name) : [])),
  ]
}

/** Gives accounts to the names in a record that have none. Returns undefined if there is nothing to change. */
export function attributed<R extends StoredIssue | StoredComment>(
  record: R,
  given: ReadonlyMap<string, number>,
): R | undefined {
  const added = peopleIn(record).flatMap(({ name, hasAccount }): StoredAccounts => {
    const id = hasAccount ? undefined : given.get(name)
    return id === undefined ? [] : [[name, id]]
  })
  return added.length === 0 ? undefined : { ...record, accounts: [...(record.accounts ?? []), ...new Map(added)] }
}

/** The accounts of the people in a record of an import. */
function accountsIn(incoming: IncomingIssue | IncomingComment): StoredAccounts {
  const { record, posterId, reactionUserIds } = incoming
  const accounts = new Map<string, number>()
  const add = (name: string | undefined, id: Id | null): void => {
    if (name !== undefined && id) accounts.set(name, idOf(id))
  }
  add(record.poster_name, posterId)
  if ('assigneeIds' in incoming) {
    for (const [at, id] of incoming.assigneeIds.entries()) add(incoming.record.assignees?.[at], id)
  }
  for (const [at, id] of reactionUserIds.entries()) add(record.reactions?.[at]?.user_name, id)
  return [...accounts]
}

/** The spread comes last: a property behind it would make V8 keep a hidden class for every record of a large import. */
function withAccounts<R extends object>(record: R, accounts: StoredAccounts): R {
  return accounts.length === 0 ? record : { accounts, ...record }
}
