import type { ForgeErrorDetails, Violation } from '../../schema/errors.ts'
import type { CommentRecord, IssueRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import { commentIdentities, firstDifference } from './compare.ts'
import type { Candidate } from './incoming.ts'
import { commentOfHost, incomingComment, incomingIssue } from './incoming.ts'
import type { IncomingBatch, TakenNumber } from './issue-tracker.ts'
import { isIssue } from './issue-tracker.ts'
import type { Accounts } from './people.ts'

/** What an import does with an issue that exists and differs. */
export type OnConflict = 'refuse' | 'skip' | 'update'

/** The records of a batch. */
export interface Batch {
  readonly labels: readonly LabelRecord[]
  readonly milestones: readonly MilestoneRecord[]
  readonly issues: readonly Candidate<IssueRecord>[]
  readonly comments: readonly Candidate<CommentRecord>[]
}

/** What the host has of what a batch names. */
export interface Found {
  readonly issues: ReadonlyMap<number, IssueRecord | TakenNumber>
  readonly comments: readonly CommentRecord[]
  /** Undefined: the host does not say which ones it has. */
  readonly labels: ReadonlySet<string> | undefined
  readonly milestones: ReadonlySet<string> | undefined
  readonly accounts: Accounts
}

/** What earlier batches of the same import did. */
export interface Earlier {
  /** Returns whether an issue was in an earlier batch, and is or would be on the host. */
  hasIssue(number: number): boolean
  /** Returns whether an issue was left although it differs. */
  hasLeft(number: number): boolean
}

/** Counts of one kind of record. */
export interface Counts {
  created: number
  updated: number
  unchanged: number
  skipped: number
}

export type Conflict = ForgeErrorDetails['IMPORT_CONFLICT']

/** What is done with a batch. */
export interface BatchPlan {
  /** Undefined: nothing is written. */
  readonly write: Omit<IncomingBatch, 'repositoryId'> | undefined
  readonly issues: Counts
  readonly comments: Counts
  readonly conflicts: readonly Conflict[]
  /** The numbers of the issues that are left although they differ. */
  readonly left: readonly number[]
  /** Comments on issues that do not exist. */
  readonly violations: readonly Violation[]
}

/**
 * Plans what is done with a batch: what is missing is created, what is the same is left, and what differs is replaced,
 * left or refused. A taken number is always a conflict. Source: docs/behaviour.md, Exchange
 */
export function planBatch(batch: Batch, found: Found, earlier: Earlier, onConflict: OnConflict): BatchPlan {
  const issues = planIssues(batch.issues, found, onConflict)
  const left = new Set(issues.left)
  const numbers = new Set(batch.issues.map(({ record }) => record.number))
  const comments = planComments(batch.comments, found, {
    hasIssue: (number) => numbers.has(number) || earlier.hasIssue(number),
    hasLeft: (number) => left.has(number) || earlier.hasLeft(number),
  })

  const incoming = [...issues.create, ...issues.update].map((issue) => incomingIssue(issue, found.accounts))
  const create = incoming.slice(0, issues.create.length)
  const update = incoming.slice(issues.create.length)
  const issueRecords = incoming.map(({ record }) => record)
  const labels = firstOfEach([...batch.labels, ...issueRecords.flatMap((issue) => issue.labels ?? [])], nameOf)
  const milestones = firstOfEach([...batch.milestones, ...issueRecords.flatMap(milestonesOf)], titleOf)
  const isEmpty =
    incoming.length === 0 &&
    comments.create.length === 0 &&
    !isMissing(labels, found.labels, nameOf) &&
    !isMissing(milestones, found.milestones, titleOf)

  return {
    write: isEmpty
      ? undefined
      : {
          labels,
          milestones,
          create,
          update,
          comments: comments.create.map((comment) => incomingComment(comment, found.accounts)),
        },
    issues: issues.counts,
    comments: comments.counts,
    conflicts: issues.conflicts,
    left: issues.left,
    violations: comments.violations,
  }
}

/** Returns the counts of nothing. */
export function noCounts(): Counts {
  return { created: 0, updated: 0, unchanged: 0, skipped: 0 }
}

function planIssues(candidates: Batch['issues'], { issues, accounts }: Found, onConflict: OnConflict) {
  const counts = noCounts()
  const create: Candidate<IssueRecord>[] = []
  const update: Candidate<IssueRecord>[] = []
  const left: number[] = []
  const conflicts: Conflict[] = []
  for (const candidate of candidates) {
    const { place, record } = candidate
    const { number } = record
    const existing = issues.get(number)
    if (existing === undefined) {
      create.push(candidate)
      counts.created += 1
    } else if (!isIssue(existing)) {
      conflicts.push({ ...place, number, reason: 'taken' })
      left.push(number)
    } else {
      const property = firstDifference(candidate, existing, accounts)
      if (property === undefined) counts.unchanged += 1
      else if (onConflict === 'update') {
        update.push(candidate)
        counts.updated += 1
      } else {
        if (onConflict === 'skip') counts.skipped += 1
        else conflicts.push({ ...place, number, reason: 'differs', property })
        left.push(number)
      }
    }
  }
  return { create, update, counts, left, conflicts }
}

function planComments(candidates: Batch['comments'], { issues, comments, accounts }: Found, earlier: Earlier) {
  const counts = noCounts()
  const known = new Set(comments.flatMap((comment) => commentIdentities(commentOfHost(comment), accounts)))
  const create: Candidate<CommentRecord>[] = []
  const violations: Violation[] = []
  for (const candidate of candidates) {
    const number = candidate.record.issue_number
    const existing = issues.get(number)
    const isOnHost = existing !== undefined && isIssue(existing)
    if (earlier.hasLeft(number)) counts.skipped += 1
    else if (!isOnHost && !earlier.hasIssue(number)) violations.push(noIssue(candidate))
    else {
      const identities = commentIdentities(candidate, accounts)
      if (identities.some((identity) => known.has(identity))) counts.unchanged += 1
      else {
        create.push(candidate)
        counts.created += 1
      }
      for (const identity of identities) known.add(identity)
    }
  }
  return { create, counts, violations }
}

function noIssue({ place, record }: Candidate<CommentRecord>): Violation {
  const message = `expected the number of an issue in the document or in the repository; there is no issue ${record.issue_number}`
  return { ...place, code: 'unknown_issue', message }
}

function nameOf({ name }: LabelRecord): string {
  return name
}

function titleOf({ title }: MilestoneRecord): string {
  return title
}

function milestonesOf({ milestone: title }: IssueRecord): readonly MilestoneRecord[] {
  return title === undefined ? [] : [{ title, state: 'open' }]
}

/** Returns the first item of each key. */
function firstOfEach<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const first = new Map<string, T>()
  for (const item of items) if (!first.has(keyOf(item))) first.set(keyOf(item), item)
  return [...first.values()]
}

function isMissing<T>(
  all: readonly T[],
  existing: ReadonlySet<string> | undefined,
  nameOf: (item: T) => string,
): boolean {
  return existing !== undefined && all.some((item) => !existing.has(nameOf(item)))
}
