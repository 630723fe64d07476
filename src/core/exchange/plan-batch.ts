import { canonicalLabel, canonicalMilestone } from '../../schema/canonical-issue.ts'
import type { CommentRecord, IssueRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import type { Violation } from '../../schema/violation.ts'
import { firstDifference } from './compare.ts'
import type { Conflict, ImportCounts } from './import-report.ts'
import type { Candidate } from './incoming.ts'
import { incomingComment, incomingIssue, peopleIn } from './incoming.ts'
import type { IncomingBatch } from './issue-tracker.ts'
import type { Batch, Found } from './look-up.ts'
import { CommentMatcher } from './match-comments.ts'

/** What an import does with an issue that exists and differs. */
export type OnConflict = 'refuse' | 'skip' | 'update'

/** What earlier batches of the same import did. */
interface Earlier {
  /** Returns whether an issue was in an earlier batch, and is or would be on the host. */
  hasIssue(number: number): boolean
  /** Returns whether an issue was left although it differs. */
  hasLeft(number: number): boolean
  /** Returns whether a label or a milestone, by name, was in an earlier batch. Of several, the first one counts. */
  hasNamed(kind: 'label' | 'milestone', name: string): boolean
}

/** What is done with a batch. */
export interface BatchPlan {
  /** Returns what is written. Undefined: nothing is. */
  readonly write: (() => Omit<IncomingBatch, 'repositoryId'>) | undefined
  readonly issues: ImportCounts
  readonly comments: ImportCounts
  readonly conflicts: readonly Conflict[]
  /** The numbers of the issues that are left although they differ. */
  readonly left: readonly number[]
  /** Comments on issues that do not exist. */
  readonly violations: readonly Violation[]
  /** The names of people who have no account, as often as they are named. */
  readonly unknownUsers: readonly string[]
  /** Whether the labels and milestones of the batch are on the host when the plan is done. */
  readonly hasLabels: boolean
}

/**
 * Plans what is done with a batch: what is missing is created, what is the same is left, and what differs is replaced,
 * left or refused. A taken number is always a conflict. Source: docs/behaviour.md, Exchange
 */
export function planBatch(batch: Batch, found: Found, earlier: Earlier, onConflict: OnConflict): BatchPlan {
  const { accounts } = found
  const issues = planIssues(batch.issues, found, onConflict)
  const left = new Set(issues.left)
  const numbers = new Set(batch.issues.map(({ record }) => record.number))
  const comments = planComments(batch.comments, found, onConflict, {
    hasIssue: (number) => numbers.has(number) || earlier.hasIssue(number),
    hasLeft: (number) => left.has(number) || earlier.hasLeft(number),
  })
  const updates = onConflict === 'update' ? planUpdates(batch, found, earlier) : NO_UPDATES

  const written = [...issues.create, ...issues.update].map(({ record }) => record)
  const isEmpty =
    written.length === 0 &&
    comments.create.length === 0 &&
    comments.update.length === 0 &&
    updates.labels.length === 0 &&
    updates.milestones.length === 0 &&
    batch.labels.every(({ name }) => found.labels?.has(name) ?? true) &&
    batch.milestones.every(({ title }) => found.milestones?.has(title) ?? true)
  const write = () => ({
    labels: firstOfEach('name', [...batch.labels, ...written.flatMap((issue) => issue.labels ?? [])]),
    milestones: firstOfEach('title', [...batch.milestones, ...written.flatMap(milestonesOf)]),
    labelUpdates: updates.labels,
    milestoneUpdates: updates.milestones,
    create: issues.create.map((issue) => incomingIssue(issue, accounts)),
    update: issues.update.map((issue) => incomingIssue(issue, accounts)),
    comments: comments.create.map((comment) => incomingComment(comment, accounts)),
    commentUpdates: comments.update.map(({ previous, comment }) => ({
      previous,
      ...incomingComment(comment, accounts),
    })),
  })
  const people = [...batch.issues, ...batch.comments].flatMap(peopleIn)
  const unknown = people.filter((each) => each.mayHaveAccount && accounts.idOf(each) === null)

  return {
    write: isEmpty ? undefined : write,
    issues: issues.counts,
    comments: comments.counts,
    conflicts: issues.conflicts,
    left: issues.left,
    violations: comments.violations,
    unknownUsers: unknown.map(({ user }) => user.name),
    hasLabels: !isEmpty || found.labels !== undefined,
  }
}

function planIssues(candidates: Batch['issues'], { issues, taken, accounts }: Found, onConflict: OnConflict) {
  const create: Candidate<IssueRecord>[] = []
  const update: Candidate<IssueRecord>[] = []
  const left: number[] = []
  let [unchanged, skipped] = [0, 0]
  const conflicts: Conflict[] = []
  for (const candidate of candidates) {
    const { position, record } = candidate
    const { number } = record
    const existing = issues.get(number)
    const property = existing && firstDifference(candidate, existing, accounts)
    if (taken.has(number)) {
      conflicts.push({ ...position, number, reason: 'taken' })
      left.push(number)
    } else if (existing === undefined) create.push(candidate)
    else if (property === undefined) unchanged += 1
    else if (onConflict === 'update') update.push(candidate)
    else {
      if (onConflict === 'skip') skipped += 1
      else conflicts.push({ ...position, number, reason: 'differs', property })
      left.push(number)
    }
  }
  const counts = { created: create.length, updated: update.length, unchanged, skipped }
  return { create, update, counts, left, conflicts }
}

function planComments(
  candidates: Batch['comments'],
  { issues, comments, accounts }: Found,
  onConflict: OnConflict,
  earlier: Pick<Earlier, 'hasIssue' | 'hasLeft'>,
) {
  let [unchanged, skipped] = [0, 0]
  const matcher = new CommentMatcher(comments, accounts)
  const create: Candidate<CommentRecord>[] = []
  const update: { readonly previous: CommentRecord; readonly comment: Candidate<CommentRecord> }[] = []
  const violations: Violation[] = []
  // First all that are by the same author, so that no other one takes their place.
  const others = candidates.filter((candidate) => {
    const { position, record } = candidate
    const number = record.issue_number
    const isKnown = matcher.isKnown(candidate)
    if (earlier.hasLeft(number)) skipped += 1
    else if (!issues.has(number) && !earlier.hasIssue(number)) {
      const message = `expected the number of an issue in the document or in the repository; there is no issue ${number}`
      violations.push({ ...position, code: 'unknown_issue', message })
    } else if (isKnown) unchanged += 1
    else return true
    return false
  })
  for (const comment of others) {
    const isSame = matcher.isOfDeleted(comment)
    const previous = isSame || onConflict !== 'update' ? undefined : matcher.editedFrom(comment)?.stored
    if (isSame) unchanged += 1
    else if (previous === undefined) create.push(comment)
    else update.push({ previous, comment })
  }
  const counts = { created: create.length, updated: update.length, unchanged, skipped }
  return { create, update, counts, violations }
}

const NO_UPDATES = { labels: [], milestones: [] }

/**
 * Returns the labels and milestones of the host that differ from those of the document. A label without a color and a
 * description is a name alone, and so is the milestone of an issue: they change nothing.
 */
function planUpdates(batch: Batch, found: Found, earlier: Earlier) {
  return {
    labels: firstOfEach('name', describedLabels(batch)).filter((label) => {
      const existing = found.labels?.get(label.name)
      return existing && !earlier.hasNamed('label', label.name) && !isEqual(canonicalLabel(existing), label)
    }),
    milestones: firstOfEach('title', batch.milestones).filter((milestone) => {
      const existing = found.milestones?.get(milestone.title)
      const isOther = existing && !isEqual(canonicalMilestone(existing), canonicalMilestone(milestone))
      return isOther && !earlier.hasNamed('milestone', milestone.title)
    }),
  }
}

/** Returns the labels of a batch, also those of its issues, that have more than a name. */
export function describedLabels({ labels, issues }: Batch): readonly LabelRecord[] {
  const all = [...labels, ...issues.flatMap(({ record }) => record.labels ?? [])].map(canonicalLabel)
  return all.filter(({ color, description }) => color !== undefined || description !== undefined)
}

function isEqual(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function milestonesOf({ milestone: title }: IssueRecord): readonly MilestoneRecord[] {
  return title === undefined ? [] : [{ title, state: 'open' }]
}

/** Returns the first item of each name. */
function firstOfEach<K extends string, T extends { readonly [Name in K]: string }>(
  key: K,
  items: readonly T[],
): readonly T[] {
  const first = new Map<string, T>()
  for (const item of items) if (!first.has(item[key])) first.set(item[key], item)
  return [...first.values()]
}
