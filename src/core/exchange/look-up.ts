import type { Id } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { CommentRecord, IssueRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { CallContext, Tracker } from '../call.ts'
import type { Candidate, WithPeople } from './incoming.ts'
import { commentWithPeople, issueWithPeople, peopleIn } from './incoming.ts'
import type { ForeignUser } from './issue-tracker.ts'
import { isIssue } from './issue-tracker.ts'
import type { StoredComment } from './match-comments.ts'
import { momentOf } from './match-comments.ts'
import { Accounts, soughtUsers } from './people.ts'

/** The records of a batch. */
export interface Batch {
  readonly labels: LabelRecord[]
  readonly milestones: MilestoneRecord[]
  readonly issues: Candidate<IssueRecord>[]
  readonly comments: Candidate<CommentRecord>[]
}

/** What the host has of what a batch names. */
export interface Found {
  readonly issues: ReadonlyMap<number, WithPeople<IssueRecord>>
  /** The numbers of what is not an issue. */
  readonly taken: ReadonlySet<number>
  readonly comments: readonly StoredComment[]
  readonly accounts: Accounts
  /** By name, the first of several. Undefined: the host does not say which ones it has. */
  readonly labels: ReadonlyMap<string, LabelRecord> | undefined
  /** By title. */
  readonly milestones: ReadonlyMap<string, MilestoneRecord> | undefined
}

/** Where a batch is looked up. */
export interface LookUp {
  readonly tracker: Tracker
  readonly repositoryId: Id
  readonly context: CallContext
  /** Whether people are looked up among the accounts. */
  readonly attributes: boolean
  /** Whether labels and milestones that exist are compared. */
  readonly follows: boolean
  /** Waits for what the tracker returned. */
  readonly answer: <T>(answer: MaybePromise<T>) => SyncOrAsync<T>
}

/** Asks the tracker what the host has of what a batch names. */
export function* lookUp(request: LookUp, batch: Batch): SyncOrAsync<Found> {
  const { tracker, repositoryId, context, answer } = request
  const commented = new Set(batch.comments.map(({ record }) => record.issue_number))
  const numbers = [...new Set([...batch.issues.map(({ record }) => record.number), ...commented])]
  const answers = numbers.length === 0 ? [] : yield* answer(tracker.issues({ repositoryId, numbers }, context))
  const issues = new Map(answers.filter(isIssue).map((issue) => [issue.number, issueWithPeople(issue)]))
  const taken = new Set(answers.filter((each) => !isIssue(each)).map(({ number }) => number))

  // Issues that are not on the host have no comments there.
  const withComments = [...commented].filter((number) => issues.has(number))
  const stored =
    tracker.comments === 'none' || withComments.length === 0
      ? []
      : yield* answer(tracker.comments({ repositoryId, numbers: withComments }, context))
  const moments = new Set(batch.comments.map(({ record }) => momentOf(record)))
  const comments = stored
    .filter((comment) => moments.has(momentOf(comment)))
    .map((comment): StoredComment => ({ stored: comment, ...commentWithPeople(comment) }))

  const accounts = new Accounts()
  if (request.attributes) {
    const all = [...batch.issues, ...batch.comments, ...issues.values(), ...comments]
    const users = soughtUsers(all.flatMap(peopleIn))
    const ids = yield* findAccounts(request, users)
    for (const [index, user] of users.entries()) accounts.add(user, ids[index] ?? null)
  }

  const found = { issues, taken, comments, accounts }
  const hasLabels = request.follows && batch.issues.some(({ record }) => record.labels !== undefined)
  const names = hasLabels || batch.labels.length > 0 || batch.milestones.length > 0
  if (tracker.labelsAndMilestones === undefined || !names) return { labels: undefined, milestones: undefined, ...found }

  const { labels, milestones } = yield* answer(tracker.labelsAndMilestones({ repositoryId }, context))
  return {
    labels: new Map(labels.toReversed().map((label) => [label.name, label])),
    milestones: new Map(milestones.toReversed().map((milestone) => [milestone.title, milestone])),
    ...found,
  }
}

/** Returns the accounts of people, in their order. Null: no one here. */
export function* findAccounts(
  { tracker, context, answer }: Pick<LookUp, 'tracker' | 'context' | 'answer'>,
  users: readonly ForeignUser[],
): SyncOrAsync<readonly (Id | null)[]> {
  if (users.length === 0) return []

  const ids = yield* answer(tracker.findUsers(users, context))
  if (ids.length !== users.length) throw new TypeError('issues.findUsers must return a list of the same length')
  return ids.map((id) => (id === undefined || id === null ? null : toId(id, 'an id that issues.findUsers returns')))
}
