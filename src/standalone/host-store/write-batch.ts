import { sql } from 'kysely'
import type { Id, IncomingBatch } from '../../index.ts'
import { notFound } from '../../schema/errors.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import type { Row } from './batch-rows.ts'
import { BatchRows } from './batch-rows.ts'
import type { HostDatabase } from './host-database.ts'
import type { HostContext } from './host-tables.ts'
import type { Insertion, SizedStatement } from './insertion.ts'
import { defineInsertion } from './insertion.ts'
import type { LastIdsRow, MilestoneRow, RepositoryLabelRow, TrackerQueries } from './tracker-queries.ts'

/** How many characters are sent in one round trip at most. MariaDB accepts 16 MiB by default. */
const MAX_CHARACTERS_TOGETHER = 4_000_000

/** Writes batches of an import into the host's tables, inside the transaction of the batch. */
export class BatchWriter<Tx> {
  readonly #database: HostDatabase<Tx>
  readonly #queries: TrackerQueries
  readonly #insertions: Insertions
  readonly #lock: Statement<unknown>

  constructor(database: HostDatabase<Tx>, queries: TrackerQueries) {
    const { build } = database.context
    this.#database = database
    this.#queries = queries
    this.#insertions = insertionsOf(database.context)
    // The one row that every process has, unchanged: ids are assigned by one transaction after the other.
    this.#lock = compileStatement(build.updateTable('schema').set((row) => ({ version: row.ref('version') })))
  }

  /**
   * Writes a batch.
   *
   * @param importerId - the account that imports; the poster of what has no account here. Undefined: the owner of the
   * repository
   * @throws ForgeError `REPOSITORY_NOT_FOUND`
   */
  *write(batch: IncomingBatch, importerId: Id | undefined, transaction: Tx | undefined): SyncOrAsync<void> {
    const { repositoryId } = batch
    const existing = new Set([...batch.update, ...batch.comments].map(({ record }) => numberOf(record)))
    const { lastIds, repositoryLabels, milestones, issueIds, owner } = this.#queries
    const [, [last], labelRows, milestoneRows, idRows, [ownerRow]] = yield* wait(
      this.#database.rowsOfEach<
        [unknown, LastIdsRow, RepositoryLabelRow, MilestoneRow, { id: Id; issue_index: number }, { id: Id }]
      >(
        [
          this.#lock,
          lastIds({}),
          repositoryLabels({ repositoryId }),
          milestones({ repositoryId }),
          issueIds({ repositoryId, numbers: [...existing] }),
          owner({ repositoryId }),
        ],
        transaction,
      ),
    )
    if (last === undefined || ownerRow === undefined) throw notFound('repository')

    const rows = new BatchRows(batch, {
      last,
      labels: labelRows,
      milestones: milestoneRows,
      issueIds: idRows,
      posterId: importerId ?? ownerRow.id,
    })
    yield* this.#run(
      this.#changes(rows).map((statement) => ({ statement, size: 0 })),
      transaction,
    )
    yield* this.#run(this.#inserts(rows), transaction)
  }

  /** Sends statements together, as far as a server accepts them. */
  *#run(statements: readonly SizedStatement[], transaction: Tx | undefined): SyncOrAsync<void> {
    let together: Statement<unknown>[] = []
    let size = 0
    for (const next of statements) {
      if (size > 0 && size + next.size > MAX_CHARACTERS_TOGETHER) {
        yield* wait(this.#database.rowsOfEach<readonly unknown[]>(together, transaction))
        together = []
        size = 0
      }
      together.push(next.statement)
      size += next.size
    }
    if (together.length > 0) yield* wait(this.#database.rowsOfEach<readonly unknown[]>(together, transaction))
  }

  /**
   * What existing issues lose, and how many comments more they have. The ids are written into the statements: MariaDB
   * would look for each row of the table in a list that is a parameter.
   */
  #changes({ updatedIds, addedComments }: BatchRows): readonly Statement<unknown>[] {
    const { build } = this.#database.context
    const listed = (ids: readonly Id[]) => sql<Id>`(${sql.join(ids.map((id) => sql.lit(Number(id))))})`
    const parts = ['issue_labels', 'issue_assignees', 'issue_assignee_names', 'issue_reactions'] as const
    const removed =
      updatedIds.length === 0
        ? []
        : parts.map((table) => build.deleteFrom(table).where('issue_id', 'in', listed(updatedIds)))
    const counted = [...addedComments].map(([count, ids]) =>
      build
        .updateTable('issues')
        .set({ comment_count: sql<number>`comment_count + ${sql.lit(count)}` })
        .where('id', 'in', listed(ids)),
    )
    return [...removed, ...counted].map((query) => compileStatement<unknown>(query))
  }

  #inserts(rows: BatchRows): readonly SizedStatement[] {
    const insert = this.#insertions
    return [
      ...insert.labels(rows.labels),
      ...insert.milestones(rows.milestones),
      ...insert.issues(rows.issues),
      ...insert.issue_labels(rows.issueLabels),
      ...insert.issue_assignees(rows.assignees),
      ...insert.issue_assignee_names(rows.assigneeNames),
      ...insert.issue_reactions(rows.issueReactions),
      ...insert.comments(rows.comments),
      ...insert.comment_reactions(rows.commentReactions),
    ]
  }
}

function numberOf(record: { readonly number: number } | { readonly issue_number: number }): number {
  return 'number' in record ? record.number : record.issue_number
}

type Insertions = { readonly [T in Written]: Insertion<Row<T>> }
type Written =
  | 'labels'
  | 'milestones'
  | 'issues'
  | 'issue_labels'
  | 'issue_assignees'
  | 'issue_assignee_names'
  | 'issue_reactions'
  | 'comments'
  | 'comment_reactions'

const AUTHOR = { author_id: 'integer', author_name: 'text', author_email: 'text' } as const
const REACTION = {
  place: 'integer',
  user_id: 'integer',
  user_name: 'text',
  content: 'text',
  account_id: 'integer',
} as const
const MILESTONE = {
  id: 'integer',
  repository_id: 'integer',
  title: 'text',
  description: 'text',
  state: 'text',
  deadline: 'integer',
  created_at: 'integer',
  updated_at: 'integer',
  closed_at: 'integer',
  offsets: 'text',
} as const

/** What an update replaces of an issue. */
const REPLACED = {
  title: 'text',
  body: 'text',
  poster_id: 'integer',
  poster_is_author: 'integer',
  ...AUTHOR,
  state: 'text',
  is_locked: 'integer',
  ref: 'text',
  milestone_id: 'integer',
  created_at: 'integer',
  updated_at: 'integer',
  closed_at: 'integer',
  offsets: 'text',
} as const
const ISSUE = {
  id: 'integer',
  repository_id: 'integer',
  issue_index: 'integer',
  kind: 'text',
  branch: 'text',
  comment_count: 'integer',
  ...REPLACED,
} as const

function insertionsOf(context: HostContext): Insertions {
  return {
    labels: defineInsertion(context, 'labels', {
      columns: { id: 'integer', repository_id: 'integer', name: 'text', color: 'text', description: 'text' },
    }),
    milestones: defineInsertion(context, 'milestones', { columns: MILESTONE }),
    issues: defineInsertion(context, 'issues', { columns: ISSUE, overwritten: Object.keys(REPLACED) }),
    issue_labels: defineInsertion(context, 'issue_labels', {
      columns: { issue_id: 'integer', place: 'integer', label_id: 'integer' },
    }),
    issue_assignees: defineInsertion(context, 'issue_assignees', {
      columns: { issue_id: 'integer', place: 'integer', user_id: 'integer' },
    }),
    issue_assignee_names: defineInsertion(context, 'issue_assignee_names', {
      columns: { issue_id: 'integer', place: 'integer', name: 'text' },
    }),
    issue_reactions: defineInsertion(context, 'issue_reactions', { columns: { issue_id: 'integer', ...REACTION } }),
    comments: defineInsertion(context, 'comments', {
      columns: {
        id: 'integer',
        issue_id: 'integer',
        poster_id: 'integer',
        content: 'text',
        created_at: 'integer',
        updated_at: 'integer',
        offsets: 'text',
        ...AUTHOR,
      },
    }),
    comment_reactions: defineInsertion(context, 'comment_reactions', {
      columns: { comment_id: 'integer', ...REACTION },
    }),
  }
}
