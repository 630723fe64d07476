import type {
  Caller,
  ForeignUser,
  Id,
  IncomingBatch,
  IssueQuery,
  IssueTracker,
  MaybePromise,
  PortContext,
  TakenNumber,
} from '../../index.ts'
import type { CommentRecord, IssueRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../schema/sync-or-async.ts'
import type { RowsOfEach, Statements } from '../../storage/sql/session.ts'
import { normalizeName } from '../host-names.ts'
import type { StandaloneUser } from '../host-ports.ts'
import { idOf, repositoryRole } from '../host-ports.ts'
import type { HostDatabase } from './host-database.ts'
import type { HostQueries } from './host-queries.ts'
import { hostQueries, NO_ONE } from './host-queries.ts'
import type { Listed } from './list-query.ts'
import type { RepositoryStandingRow } from './sql-rows.ts'
import { repositoryAccess } from './sql-rows.ts'
import type {
  AssigneeNameRow,
  CommentRow,
  DeletedRow,
  IssueLabelRow,
  ListedIssueRow,
  PosterRow,
  ReactionRow,
  TrackedIssueRow,
  TrackerQueries,
} from './tracker-queries.ts'
import { trackerQueries } from './tracker-queries.ts'
import type { IssueParts } from './tracker-records.ts'
import { commentRecordOf, issueRecordOf, labelRecordOf, milestoneRecordOf } from './tracker-records.ts'
import { BatchWriter } from './write-batch.ts'

type Context<Tx> = PortContext<Caller<StandaloneUser>, Tx>

/** The issues of the host, as the exchange of the forge reads and writes them. */
export class SqlIssueTracker<Tx> implements IssueTracker<StandaloneUser, Tx> {
  readonly #database: HostDatabase<Tx>
  readonly #queries: TrackerQueries
  readonly #standing: HostQueries['repositoryStanding']
  readonly #writer: BatchWriter<Tx>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#queries = trackerQueries(database.context)
    this.#standing = hostQueries(database.context).repositoryStanding
    this.#writer = new BatchWriter(database, this.#queries)
  }

  issues(query: IssueQuery, context: Context<Tx>): MaybePromise<readonly (IssueRecord | TakenNumber)[]> {
    return runMaybeAsync(this.#issues(query, context))
  }

  comments(
    query: { readonly repositoryId: Id; readonly numbers: readonly number[] },
    context: Context<Tx>,
  ): MaybePromise<readonly CommentRecord[]> {
    return runMaybeAsync(this.#comments(query, context))
  }

  labelsAndMilestones(
    query: { readonly repositoryId: Id },
    context: Context<Tx>,
  ): MaybePromise<{ readonly labels: readonly LabelRecord[]; readonly milestones: readonly MilestoneRecord[] }> {
    return runMaybeAsync(this.#labelsAndMilestones(query, context))
  }

  /** People are found by their names alone. */
  findUsers(users: readonly ForeignUser[], context: Context<Tx>): MaybePromise<readonly (Id | undefined)[]> {
    return runMaybeAsync(this.#findUsers(users, context))
  }

  write(batch: IncomingBatch, { actor, transaction }: Context<Tx>): MaybePromise<void> {
    return runMaybeAsync(this.#writer.write(batch, idOf(actor), transaction))
  }

  *#issues(query: IssueQuery, context: Context<Tx>): SyncOrAsync<readonly (IssueRecord | TakenNumber)[]> {
    const { issuesNumbered, deletedNumbered, nextIssues, nextDeleted } = this.#queries
    const found =
      'numbers' in query
        ? ([issuesNumbered(query), deletedNumbered(query)] as const)
        : ([nextIssues(query), nextDeleted(query)] as const)
    const [listed, deleted, standing] = yield* this.#rows<[ListedIssueRow, DeletedRow, RepositoryStandingRow]>(
      [...found, this.#standingOf(query.repositoryId, context)],
      context,
    )

    const rows = yield* this.#withTexts(listed, query, context)
    const parts = yield* this.#partsOf(rows, context)
    const showsEmail = seesEmail(standing, context.actor)
    const answers = rows.map((row): IssueRecord | TakenNumber => {
      const record = row.kind === 'issue' ? issueRecordOf(row, parts(row.id), showsEmail) : undefined
      return record ?? taken(row)
    })
    const all = deleted.length === 0 ? answers : [...answers, ...deleted.map(taken)].sort(byNumber)
    if ('numbers' in query) return all

    // There may be issues between the last of this page and the deleted numbers above it.
    const last = answers.at(-1)?.number ?? Number.POSITIVE_INFINITY
    return all.filter(({ number }) => number <= last).slice(0, query.limit)
  }

  /**
   * Returns the issues before the first one with a long text, which comes alone: a few hundred long texts would not fit
   * into memory.
   */
  *#withTexts(
    listed: readonly ListedIssueRow[],
    query: IssueQuery,
    context: Context<Tx>,
  ): SyncOrAsync<readonly TrackedIssueRow[]> {
    const rows: TrackedIssueRow[] = []
    for (const row of listed) {
      if (!hasText(row)) break
      rows.push(row)
    }
    if (rows.length > 0 || listed.length === 0 || 'numbers' in query) return rows

    const [alone] = yield* this.#rows([this.#queries.nextIssue(query)] as const, context)
    return alone
  }

  /** Reads what belongs to issues, and returns how to find it by the id of an issue. */
  *#partsOf(rows: readonly TrackedIssueRow[], context: Context<Tx>): SyncOrAsync<(id: Id) => IssueParts> {
    const issues = rows.filter(({ kind }) => kind === 'issue')
    const ids = issues.map(({ id }) => id)
    const written = issues.filter(({ author_id }) => author_id === null).map(({ id }) => id)
    const { posters, labels, assigneeNames, issueReactions } = this.#queries
    const statements = [
      posters({ ids: written }),
      labels.query({ ids }),
      assigneeNames.query({ ids }),
      issueReactions.query({ ids }),
    ] as const
    const found: RowsOfEach<readonly [PosterRow, Listed<IssueLabelRow>, Listed<AssigneeNameRow>, Listed<ReactionRow>]> =
      ids.length === 0 ? [[], [], [], []] : yield* this.#rows(statements, context)
    const [postersOf, labelsOf, assigneesOf, reactionsOf] = [
      grouped(found[0], ({ issue_id }) => issue_id),
      grouped(labels.rowsIn(found[1]), ({ issue_id }) => issue_id),
      grouped(assigneeNames.rowsIn(found[2]), ({ issue_id }) => issue_id),
      grouped(issueReactions.rowsIn(found[3]), ({ owner_id }) => owner_id),
    ]
    return (id) => ({
      poster: postersOf(id)[0],
      labels: labelsOf(id),
      assignees: assigneesOf(id),
      reactions: reactionsOf(id),
    })
  }

  *#comments(
    query: { readonly repositoryId: Id; readonly numbers: readonly number[] },
    context: Context<Tx>,
  ): SyncOrAsync<readonly CommentRecord[]> {
    const statements = [this.#queries.comments(query), this.#standingOf(query.repositoryId, context)] as const
    const [rows, standing] = yield* this.#rows<[CommentRow, RepositoryStandingRow]>(statements, context)
    if (rows.length === 0) return []

    const ids = rows.map(({ id }) => id)
    const { commentReactions } = this.#queries
    const [reactions] = yield* this.#rows<[Listed<ReactionRow>]>([commentReactions.query({ ids })], context)
    const reactionsOf = grouped(commentReactions.rowsIn(reactions), ({ owner_id }) => owner_id)
    const showsEmail = seesEmail(standing, context.actor)
    return rows.map((row) => commentRecordOf(row, reactionsOf(row.id), showsEmail))
  }

  *#labelsAndMilestones({ repositoryId }: { readonly repositoryId: Id }, context: Context<Tx>) {
    const { repositoryLabels, milestones } = this.#queries
    const statements = [repositoryLabels({ repositoryId }), milestones({ repositoryId })] as const
    const [labelRows, milestoneRows] = yield* this.#rows(statements, context)
    return { labels: labelRows.map(labelRecordOf), milestones: milestoneRows.map(milestoneRecordOf) }
  }

  *#findUsers(users: readonly ForeignUser[], context: Context<Tx>): SyncOrAsync<readonly (Id | undefined)[]> {
    const names = users.map(({ name }) => normalizeName(name))
    const [rows] = yield* this.#rows([this.#queries.users({ names })] as const, context)
    const ids = new Map(rows.map(({ id, name }) => [name, id]))
    return names.map((name) => ids.get(name))
  }

  #rows<Rows extends readonly unknown[]>(
    statements: Statements<Rows>,
    { transaction }: Context<Tx>,
  ): SyncOrAsync<RowsOfEach<Rows>> {
    return wait(this.#database.rowsOfEach<Rows>(statements, transaction))
  }

  #standingOf(repositoryId: Id, { actor }: Context<Tx>) {
    return this.#standing({ repositoryId, userId: idOf(actor) ?? NO_ONE })
  }
}

/** E-mail addresses are for the admins of the repository and of the site. Source: docs/behaviour.md, The standalone server */
function seesEmail([row]: readonly RepositoryStandingRow[], actor: Caller<StandaloneUser>): boolean {
  if (actor === 'system' || row?.is_site_admin === 1) return true
  const userId = idOf(actor)
  return userId !== undefined && repositoryRole(row && repositoryAccess(row, userId), true) === 'admin'
}

function hasText(row: ListedIssueRow): row is TrackedIssueRow {
  return row.body !== null
}

function taken({ issue_index }: DeletedRow): TakenNumber {
  return { number: issue_index, taken: true }
}

function byNumber(one: { readonly number: number }, other: { readonly number: number }): number {
  return one.number - other.number
}

const NONE: readonly never[] = []

/**
 * Groups rows, in their order. Returns how to find those of an id. The ids in the rows are numbers: V8 keeps each short
 * text that JSON.parse returns until it collects all garbage.
 */
function grouped<Row>(rows: readonly Row[], idOfRow: (row: Row) => number): (id: Id) => readonly Row[] {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const group = groups.get(idOfRow(row))
    if (group === undefined) groups.set(idOfRow(row), [row])
    else group.push(row)
  }
  return (id) => groups.get(Number(id)) ?? NONE
}
