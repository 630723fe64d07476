import type { Id, IdInput } from '../../schema/ids.ts'
import type { CommentRecord, IssueRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { Actor, Caller, PortContext } from '../ports.ts'

/** A person whom a document names. */
export interface ForeignUser {
  /** The id in the forge that the document comes from. */
  readonly id: number | undefined
  readonly name: string
  readonly email: string | undefined
}

/** A comment that is ready to be written: the record, and what every host would otherwise have to derive from it. */
export interface IncomingComment {
  readonly record: CommentRecord
  /** The author's account; null if no one here has the name, or if accounts are not attributed. */
  readonly posterId: Id | null
  /** The accounts of `record.reactions`, in the same order. */
  readonly reactionUserIds: readonly (Id | null)[]
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An issue that is ready to be written. */
export interface IncomingIssue extends Omit<IncomingComment, 'record'> {
  /** Its lists may name the same label or person more than once. */
  readonly record: IssueRecord
  /** The accounts of `record.assignees`, in the same order. */
  readonly assigneeIds: readonly (Id | null)[]
  readonly closedAt: Date | null
}

/** A comment that was edited since it was imported. */
export interface CommentUpdate extends IncomingComment {
  /** The comment that it replaces: the object that `comments` returned. */
  readonly previous: CommentRecord
}

/** A number that no issue can have, because a pull request or a deleted issue has it. */
export interface TakenNumber {
  readonly number: number
  readonly taken: true
}

/** What is written at once, all or nothing. */
export interface IncomingBatch {
  readonly repositoryId: Id
  /** Create those that are missing; do not change those that exist. Names may repeat: the first one counts. */
  readonly labels: readonly LabelRecord[]
  /** Create those that are missing; do not change those that exist. Titles may repeat: the first one counts. */
  readonly milestones: readonly MilestoneRecord[]
  /** Labels that exist, to be replaced. The issues that have them keep them. Empty without `labelsAndMilestones`. */
  readonly labelUpdates: readonly LabelRecord[]
  /** Milestones that exist, to be replaced. The issues that have them keep them. Empty without `labelsAndMilestones`. */
  readonly milestoneUpdates: readonly MilestoneRecord[]
  /** Issues whose numbers are free. */
  readonly create: readonly IncomingIssue[]
  /** Issues that exist, to be replaced whole. Their comments stay. */
  readonly update: readonly IncomingIssue[]
  /** New comments, of issues that exist or are in `create`. */
  readonly comments: readonly IncomingComment[]
  /** Comments that exist, to be replaced. */
  readonly commentUpdates: readonly CommentUpdate[]
}

/** Which issues of a repository are read: those with these numbers, or the next ones above a number. */
export type IssueQuery = { readonly repositoryId: Id } & (
  | { readonly numbers: readonly number[] }
  | { readonly after: number; readonly limit: number }
)

/** A property of an issue, or of a comment on it, that names someone. */
export interface NamedPerson {
  /** The number of the issue. */
  readonly number: number
  /** What names the person: the author of the issue, an assignee, the author of a comment, the user of a reaction to either. */
  readonly part: 'issues' | 'assignees' | 'comments' | 'reactions'
  /** The name as the record has it. */
  readonly name: string
  /** Whether it belongs to an account. An issue that a user of the host has created does. */
  readonly hasAccount: boolean
}

/**
 * What `exchange.reattribute` needs of a host: to know which names have no account, and to give them one. Both methods are
 * called inside the transaction in which a batch is written, as those of an import are.
 */
export interface Attribution<A extends Actor, Tx = unknown> {
  /**
   * Returns everyone whom the next issues above a number and their comments name, in ascending order of the issues: of
   * `limit` issues, or fewer, but each issue whole. None means that there are no more.
   */
  named(
    query: { readonly repositoryId: Id; readonly after: number; readonly limit: number },
    context: PortContext<Caller<A>, Tx>,
  ): MaybePromise<readonly NamedPerson[]>
  /**
   * Gives accounts to names in the issues of these numbers and in their comments, wherever such a name has none. What has
   * an account keeps it, and records keep their names and times.
   */
  attribute(
    change: {
      readonly repositoryId: Id
      readonly numbers: readonly number[]
      /** The account of each name. */
      readonly accounts: ReadonlyMap<string, Id>
    },
    context: PortContext<Caller<A>, Tx>,
  ): MaybePromise<void>
}

/**
 * Port: the host's issues. During an import every method is called inside the transaction in which the batch is written
 * (`context.transaction`), so nothing comes between. If the database ends that transaction, the methods are called again
 * in a new one: they must do nothing outside of it, and must notify no one. `export` and `inspect` call them outside of
 * a transaction, unless they run inside the host's. `context.actor` is the caller: return no e-mail address that is
 * hidden from them. Source: docs/exchange.md, Writing a tracker
 */
export interface IssueTracker<A extends Actor, Tx = unknown> {
  /**
   * Returns issues in ascending order of their numbers. The number of an issue never changes. Of the next ones above a
   * number it may return fewer than `limit`, for example if they are long; none means that there are no more.
   */
  issues(query: IssueQuery, context: PortContext<Caller<A>, Tx>): MaybePromise<readonly (IssueRecord | TakenNumber)[]>
  /**
   * Returns the comments of these issues, ordered by issue, oldest first. 'none': the host has no comments; an import
   * reports them as not carried.
   */
  readonly comments:
    | 'none'
    | ((
        query: { readonly repositoryId: Id; readonly numbers: readonly number[] },
        context: PortContext<Caller<A>, Tx>,
      ) => MaybePromise<readonly CommentRecord[]>)
  /**
   * Returns the labels and the milestones of the repository. Without it, an export has only the labels that issues
   * have, and no milestones; an import creates labels and milestones only together with something else, and changes none.
   */
  readonly labelsAndMilestones?:
    | ((
        query: { readonly repositoryId: Id },
        context: PortContext<Caller<A>, Tx>,
      ) => MaybePromise<{ readonly labels: readonly LabelRecord[]; readonly milestones: readonly MilestoneRecord[] }>)
    | undefined
  /** Returns the accounts of these people, in the same order. Undefined: no one here. Called only to attribute accounts. */
  findUsers(
    users: readonly ForeignUser[],
    context: PortContext<Caller<A>, Tx>,
  ): MaybePromise<readonly (IdInput | undefined)[]>
  /**
   * Writes all of the batch. The next number that the host assigns must be above every number that was written.
   */
  write(batch: IncomingBatch, context: PortContext<Caller<A>, Tx>): MaybePromise<void>
  /**
   * Makes the next number that the host assigns greater than this one, if it is not yet. Called at the end of an import
   * whose source has left out pull requests or issues, with the greatest of their numbers: texts of the source refer to
   * them by it. Without it, the host may give such a number to an issue of its own.
   */
  readonly reserveNumbers?:
    | ((
        reservation: { readonly repositoryId: Id; readonly upTo: number },
        context: PortContext<Caller<A>, Tx>,
      ) => MaybePromise<void>)
    | undefined
  /** Gives accounts to the people of issues that are there. Without it, `exchange.reattribute` is a TypeError. */
  readonly attribution?: Attribution<A, Tx> | undefined
}

/** Returns whether a tracker's answer is an issue, and not a taken number. */
export function isIssue(answer: IssueRecord | TakenNumber): answer is IssueRecord {
  return !('taken' in answer)
}
