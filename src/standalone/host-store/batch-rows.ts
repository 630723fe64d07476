import type { Insertable } from 'kysely'
import type { Id, IncomingBatch, IncomingComment, IncomingIssue } from '../../index.ts'
import { canonicalDateTime } from '../../schema/date-time.ts'
import type { LabelRecord, MilestoneRecord, ReactionRecord } from '../../schema/issue-record.ts'
import type { HostTables } from './host-tables.ts'
import { offsetsOf } from './time-text.ts'
import type { LastIdsRow, MilestoneRow, RepositoryLabelRow } from './tracker-queries.ts'

/** What is in the database before a batch is written. */
export interface Found {
  readonly last: LastIdsRow
  readonly labels: readonly RepositoryLabelRow[]
  readonly milestones: readonly MilestoneRow[]
  readonly issueIds: readonly { readonly id: Id; readonly issue_index: number }[]
  /** The poster of what has no account here. */
  readonly posterId: Id
}

/** A row to write. */
export type Row<T extends keyof HostTables> = Insertable<HostTables[T]>

/** The rows of a batch, with their ids. What the batch names and the database has not is added. */
export class BatchRows {
  readonly labels: Row<'labels'>[] = []
  readonly milestones: Row<'milestones'>[] = []
  readonly issues: Row<'issues'>[] = []
  readonly issueLabels: Row<'issue_labels'>[] = []
  readonly assignees: Row<'issue_assignees'>[] = []
  readonly assigneeNames: Row<'issue_assignee_names'>[] = []
  readonly issueReactions: Row<'issue_reactions'>[] = []
  readonly comments: Row<'comments'>[] = []
  readonly commentReactions: Row<'comment_reactions'>[] = []
  readonly updatedIds: readonly Id[]
  /** The issues that have new comments and existed before, by the number of these comments. */
  readonly addedComments: Map<number, Id[]> = new Map()
  readonly #repositoryId: Id
  readonly #posterId: Id
  readonly #labelIds: Map<string, Id>
  readonly #milestoneIds: Map<string, Id>
  readonly #issueIds: Map<number, Id>
  readonly #last: { issue: number; label: number; milestone: number; comment: number }

  constructor(batch: IncomingBatch, found: Found) {
    this.#repositoryId = batch.repositoryId
    this.#posterId = found.posterId
    this.#labelIds = firstIds(found.labels.map(({ name, id }) => [name, id]))
    this.#milestoneIds = firstIds(found.milestones.map(({ title, id }) => [title, id]))
    this.#issueIds = new Map(found.issueIds.map(({ issue_index, id }) => [issue_index, id]))
    this.#last = { ...found.last }

    for (const label of batch.labels) this.#labelId(label)
    for (const milestone of batch.milestones) this.#milestoneId(milestone)
    this.updatedIds = batch.update.map(({ record }) => this.#issueId(record.number))
    const counts = countsOf(batch.comments)
    for (const issue of batch.update) this.#addIssue(issue, this.#issueId(issue.record.number), 0)
    for (const [number, count] of counts) this.#countComments(number, count)
    for (const issue of batch.create) {
      const { number } = issue.record
      const id = this.#nextId('issue')
      this.#issueIds.set(number, id)
      this.#addIssue(issue, id, counts.get(number) ?? 0)
    }
    for (const comment of batch.comments) this.#addComment(comment)
  }

  #nextId(kind: keyof LastIdsRow): Id {
    this.#last[kind] += 1
    // V8 keeps what String() returns for a number in a cache, which has to be collected from the old generation.
    return this.#last[kind].toFixed(0)
  }

  #issueId(number: number): Id {
    const id = this.#issueIds.get(number)
    if (id !== undefined) return id
    throw new TypeError(`issue ${number} does not exist in the repository`)
  }

  #countComments(number: number, count: number): void {
    const id = this.#issueIds.get(number)
    if (id === undefined) return // created by this batch, with its comments counted

    const ids = this.addedComments.get(count)
    if (ids === undefined) this.addedComments.set(count, [id])
    else ids.push(id)
  }

  #labelId({ name, color = '', description = '' }: LabelRecord): Id {
    const known = this.#labelIds.get(name)
    if (known !== undefined) return known

    const id = this.#nextId('label')
    this.#labelIds.set(name, id)
    this.labels.push({ id, repository_id: this.#repositoryId, name, color, description })
    return id
  }

  #milestoneId({ title, description = '', state, ...times }: MilestoneRecord): Id {
    const known = this.#milestoneIds.get(title)
    if (known !== undefined) return known

    const id = this.#nextId('milestone')
    this.#milestoneIds.set(title, id)
    const { deadline, created, updated, closed } = times
    this.milestones.push({
      id,
      repository_id: this.#repositoryId,
      title,
      description,
      state,
      deadline: timeOf(deadline),
      created_at: timeOf(created),
      updated_at: timeOf(updated),
      closed_at: timeOf(closed),
      offsets: offsetsOf([deadline, created, updated, closed]),
    })
    return id
  }

  #addIssue(
    { record, posterId, createdAt, updatedAt, closedAt, ...accounts }: IncomingIssue,
    id: Id,
    comments: number,
  ) {
    this.issues.push({
      id,
      repository_id: this.#repositoryId,
      issue_index: record.number,
      kind: 'issue',
      title: record.title,
      body: record.content,
      poster_id: posterId ?? this.#posterId,
      poster_is_author: posterId === null ? 0 : 1,
      author_id: record.poster_id,
      author_name: record.poster_name,
      author_email: record.poster_email || null,
      state: record.state,
      is_locked: record.is_locked ? 1 : 0,
      branch: '',
      ref: record.ref ?? '',
      milestone_id: record.milestone ? this.#milestoneId({ title: record.milestone, state: 'open' }) : null,
      comment_count: comments,
      created_at: createdAt.getTime(),
      updated_at: updatedAt.getTime(),
      closed_at: closedAt?.getTime() ?? null,
      offsets: offsetsOf([record.created, record.updated, record.closed]),
    })
    for (const [place, label] of (record.labels ?? []).entries()) {
      this.issueLabels.push({ issue_id: id, place, label_id: this.#labelId(label) })
    }
    this.#addAssignees(id, record.assignees ?? [], accounts.assigneeIds)
    for (const row of reactionRows(record.reactions, accounts.reactionUserIds)) {
      this.issueReactions.push({ issue_id: id, ...row })
    }
  }

  /** A document may name someone twice. Here an issue has each account once. */
  #addAssignees(issueId: Id, names: readonly string[], accounts: readonly (Id | null)[]): void {
    const assigned = new Set<Id>()
    for (const [place, name] of names.entries()) {
      this.assigneeNames.push({ issue_id: issueId, place, name })
      const userId = accounts[place] ?? null
      if (userId === null || assigned.has(userId)) continue
      assigned.add(userId)
      this.assignees.push({ issue_id: issueId, place, user_id: userId })
    }
  }

  #addComment({ record, posterId, createdAt, updatedAt, reactionUserIds }: IncomingComment): void {
    const id = this.#nextId('comment')
    this.comments.push({
      id,
      issue_id: this.#issueId(record.issue_number),
      poster_id: posterId,
      content: record.content,
      created_at: createdAt.getTime(),
      updated_at: updatedAt.getTime(),
      offsets: offsetsOf([record.created, record.updated]),
      author_id: record.poster_id,
      author_name: record.poster_name,
      author_email: record.poster_email || null,
    })
    for (const row of reactionRows(record.reactions, reactionUserIds)) {
      this.commentReactions.push({ comment_id: id, ...row })
    }
  }
}

/** How many comments each issue gets, by its number. */
function countsOf(comments: readonly IncomingComment[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const { record } of comments) counts.set(record.issue_number, (counts.get(record.issue_number) ?? 0) + 1)
  return counts
}

function reactionRows(reactions: readonly ReactionRecord[] = [], accounts: readonly (Id | null)[]) {
  return reactions.map(({ user_id, user_name, content }, place) => ({
    place,
    user_id,
    user_name: user_name || null,
    content,
    account_id: accounts[place] ?? null,
  }))
}

/** The first of several that have one name. */
function firstIds(named: readonly (readonly [string, Id])[]): Map<string, Id> {
  return new Map(named.toReversed())
}

function timeOf(text: string | null | undefined): number | null {
  return text ? Date.parse(canonicalDateTime(text)) : null
}
