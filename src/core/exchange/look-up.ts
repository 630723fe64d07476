import type { Id } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { CommentRecord, IssueRecord } from '../../schema/issue-record.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { Actor, Caller, PortContext } from '../ports.ts'
import { commentOfHost, issueOfHost, peopleToFind } from './incoming.ts'
import type { ForeignUser, IssueTracker, TakenNumber } from './issue-tracker.ts'
import { isIssue } from './issue-tracker.ts'
import { Accounts, distinctPeople } from './people.ts'
import type { Batch, Found } from './plan-batch.ts'

/** Where a batch is looked up. */
export interface LookUp<A extends Actor, Tx> {
  readonly tracker: IssueTracker<A, Tx>
  readonly repositoryId: Id
  readonly context: PortContext<Caller<A>, Tx>
  /** Whether people are looked up among the accounts. */
  readonly attributes: boolean
  /** Waits for what the tracker returned. */
  readonly answer: <T>(answer: MaybePromise<T>) => SyncOrAsync<T>
}

/** Asks the tracker what the host has of what a batch names. */
export function* lookUp<A extends Actor, Tx>(place: LookUp<A, Tx>, batch: Batch): SyncOrAsync<Found> {
  const { tracker, repositoryId, context, answer } = place
  const issues = yield* issuesOf(place, batch)
  const comments = yield* commentsOf(place, batch, issues)
  const accounts = place.attributes ? yield* accountsOf(place, batch, issues, comments) : new Accounts()
  if (tracker.labelsAndMilestones === undefined || (batch.labels.length === 0 && batch.milestones.length === 0)) {
    return { issues, comments, accounts, labels: undefined, milestones: undefined }
  }

  const { labels, milestones } = yield* answer(tracker.labelsAndMilestones({ repositoryId }, context))
  return {
    issues,
    comments,
    accounts,
    labels: new Set(labels.map(({ name }) => name)),
    milestones: new Set(milestones.map(({ title }) => title)),
  }
}

function* issuesOf<A extends Actor, Tx>(
  { tracker, repositoryId, context, answer }: LookUp<A, Tx>,
  { issues, comments }: Batch,
): SyncOrAsync<Found['issues']> {
  const numbers = [...new Set(issues.map(({ record }) => record.number).concat(numbersOf(comments)))]
  if (numbers.length === 0) return new Map()

  const answers = yield* answer(tracker.issues({ repositoryId, numbers }, context))
  return new Map(answers.map((answer): [number, IssueRecord | TakenNumber] => [answer.number, answer]))
}

/** Issues that are not on the host have no comments there. */
function* commentsOf<A extends Actor, Tx>(
  { tracker, repositoryId, context, answer }: LookUp<A, Tx>,
  batch: Batch,
  issues: Found['issues'],
): SyncOrAsync<readonly CommentRecord[]> {
  const numbers = [...new Set(numbersOf(batch.comments))].filter((number) => {
    const issue = issues.get(number)
    return issue !== undefined && isIssue(issue)
  })
  if (tracker.comments === 'none' || numbers.length === 0) return []

  return yield* answer(tracker.comments({ repositoryId, numbers }, context))
}

function* accountsOf<A extends Actor, Tx>(
  { tracker, context, answer }: LookUp<A, Tx>,
  batch: Batch,
  issues: Found['issues'],
  comments: readonly CommentRecord[],
): SyncOrAsync<Accounts> {
  const accounts = new Accounts()
  const people = distinctPeople(everyone(batch, issues, comments))
  if (people.length === 0) return accounts

  const ids = yield* findAccounts({ tracker, context, answer }, people)
  for (const [index, person] of people.entries()) accounts.add(person, ids[index] ?? null)
  return accounts
}

/** Returns the accounts of people, in their order. Null: no one here. */
export function* findAccounts<A extends Actor, Tx>(
  { tracker, context, answer }: Pick<LookUp<A, Tx>, 'tracker' | 'context' | 'answer'>,
  people: readonly ForeignUser[],
): SyncOrAsync<readonly (Id | null)[]> {
  const ids = yield* answer(tracker.findUsers(people, context))
  if (ids.length !== people.length) throw new TypeError('issues.findUsers must return a list of the same length')
  return ids.map((id) => (id === undefined || id === null ? null : toId(id, 'an id that issues.findUsers returns')))
}

function* everyone(
  batch: Batch,
  issues: Found['issues'],
  comments: readonly CommentRecord[],
): Generator<ForeignUser | undefined, void, void> {
  for (const candidate of [...batch.issues, ...batch.comments]) yield* peopleToFind(candidate)
  for (const issue of issues.values()) if (isIssue(issue)) yield* peopleToFind(issueOfHost(issue))
  for (const comment of comments) yield* peopleToFind(commentOfHost(comment))
}

function numbersOf(comments: Batch['comments']): readonly number[] {
  return comments.map(({ record }) => record.issue_number)
}
