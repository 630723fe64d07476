import type { Compilable } from 'kysely'
import { sql } from 'kysely'
import type {
  ForeignUser,
  Id,
  IncomingBatch,
  IncomingIssue,
  IssueQuery,
  IssueTracker,
  MaybePromise,
  TakenNumber,
} from '../../index.ts'
import { canonicalDateTime } from '../../schema/date-time.ts'
import { notFound } from '../../schema/errors.ts'
import type { CommentRecord, IssueRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import { normalizeName } from '../host-names.ts'
import { SqlAttribution, storedAccounts } from './attribution.ts'
import type { HostDatabase } from './host-database.ts'
import type { HostDirectory } from './host-directory.ts'
import type { Numbered, TrackerContext } from './issue-rows.ts'
import { elements, IssueRows } from './issue-rows.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf, NO_ID, repositoryRoleOf, userIdOf } from './roles.ts'
import { Inserts, RowWriter } from './row-writer.ts'
import type { HostContext, NewRow, Row, StoredAccounts, StoredComment, StoredIssue } from './tables.ts'
import { columnsOf } from './tables.ts'

type Context<Tx> = TrackerContext<Tx>

/** The issues of the host, as the exchange of the forge reads and writes them. */
export class SqlIssueTracker<Tx> implements IssueTracker<StandaloneUser, Tx> {
  readonly #database: HostDatabase<Tx>
  readonly #context: HostContext
  readonly #directory: HostDirectory<Tx>
  readonly #inserts: Inserts
  readonly #issueRows: IssueRows<Tx>
  readonly attribution: SqlAttribution<Tx>

  constructor(database: HostDatabase<Tx>, directory: HostDirectory<Tx>) {
    this.#database = database
    this.#context = database.context
    this.#directory = directory
    this.#inserts = new Inserts(database.context)
    this.#issueRows = new IssueRows(database)
    this.attribution = new SqlAttribution(database)
  }

  issues(query: IssueQuery, context: Context<Tx>): MaybePromise<readonly (IssueRecord | TakenNumber)[]> {
    return runMaybeAsync(this.#issues(query, context))
  }

  comments(query: Numbered, context: Context<Tx>): MaybePromise<readonly CommentRecord[]> {
    return runMaybeAsync(this.#comments(query, context))
  }

  labelsAndMilestones(
    { repositoryId }: { readonly repositoryId: Id },
    context: Context<Tx>,
  ): MaybePromise<{ readonly labels: readonly LabelRecord[]; readonly milestones: readonly MilestoneRecord[] }> {
    return runMaybeAsync(this.#labelsAndMilestones(idOf(repositoryId), context))
  }

  /** People are found by their names alone. */
  findUsers(users: readonly ForeignUser[], context: Context<Tx>): MaybePromise<readonly (Id | undefined)[]> {
    const names = users.map(({ name }) => normalizeName(name))
    return runMaybeAsync(this.#findUsers(names, context))
  }

  write(batch: IncomingBatch, context: Context<Tx>): MaybePromise<void> {
    return runMaybeAsync(this.#write(batch, context))
  }

  *#issues(query: IssueQuery, context: Context<Tx>): SyncOrAsync<readonly (IssueRecord | TakenNumber)[]> {
    const rows = yield* this.#issueRows.issues(query, context)
    const found = rows.map(({ number, kind, record }): StoredIssue | TakenNumber =>
      kind === 'issue' ? JSON.parse(record) : { number, taken: true },
    )
    const labels = yield* this.#labels(found, context)
    const showsEmail = yield* this.#showsEmail(query.repositoryId, context)
    return found.map((one) => ('taken' in one ? one : visible(shownIssue(one, labels), showsEmail)))
  }

  *#labels(
    found: readonly (StoredIssue | TakenNumber)[],
    context: Context<Tx>,
  ): SyncOrAsync<ReadonlyMap<number, LabelRecord>> {
    const ids = [...new Set(found.flatMap((one) => ('labels' in one && one.labels) || []))]
    if (ids.length === 0) return new Map()

    const labels = this.#context.build.selectFrom('labels').select(columnsOf(this.#context, 'labels'))
    const rows = yield* this.#rows(labels.where('id', 'in', elements(this.#context, ids)), context)
    return new Map(rows.map(({ id, record }): [number, LabelRecord] => [id, JSON.parse(record)]))
  }

  *#comments({ repositoryId, numbers }: Numbered, context: Context<Tx>): SyncOrAsync<readonly CommentRecord[]> {
    const rows = yield* this.#issueRows.comments({ repositoryId, numbers }, context)
    const showsEmail = yield* this.#showsEmail(repositoryId, context)
    return rows.map(({ record }) => visible(shownComment(JSON.parse(record)), showsEmail))
  }

  *#labelsAndMilestones(repositoryId: number, context: Context<Tx>) {
    const labels = yield* this.#rows(this.#inRepository('labels', repositoryId), context)
    const milestones = yield* this.#rows(this.#inRepository('milestones', repositoryId), context)
    return {
      labels: labels.map(({ record }): LabelRecord => JSON.parse(record)),
      milestones: milestones.map(({ record }): MilestoneRecord => JSON.parse(record)),
    }
  }

  *#findUsers(names: readonly string[], context: Context<Tx>): SyncOrAsync<readonly (Id | undefined)[]> {
    const { build, columns, dialect } = this.#context
    const users = build
      .selectFrom('accounts')
      .select([columns.number('id').as('id'), 'folded_name'])
      .where('kind', '=', 'user')
      .where('folded_name', 'in', dialect.elements(sql.val(JSON.stringify(names)), dialect.casts.text))
    const rows = yield* this.#rows(users, context)
    const ids = new Map(rows.map(({ id, folded_name }) => [folded_name, String(id)]))
    return names.map((name) => ids.get(name))
  }

  /** What has no account here is posted by who imports, or by the owner of the repository. */
  *#write(batch: IncomingBatch, context: Context<Tx>): SyncOrAsync<void> {
    const { build, columns } = this.#context
    const repository_id = idOf(batch.repositoryId)
    const repositories = build.selectFrom('repositories').select(columns.number('owner_id').as('owner_id'))
    const [repository] = yield* this.#rows(repositories.where('id', '=', repository_id), context)
    if (repository === undefined) throw notFound('repository')

    const writer = new RowWriter(this.#inserts, (statement) => this.#database.rows(statement, context.transaction))
    const [labels, milestones] = [batch.labels.map(namedLabel), batch.milestones.map(namedMilestone)]
    const labelIds = yield* this.#idsByName({ table: 'labels', repository_id, named: labels }, writer, context)
    const milestoneIds = yield* this.#idsByName(
      { table: 'milestones', repository_id, named: milestones },
      writer,
      context,
    )
    const importerId = userIdOf(context.actor)
    const posterId = importerId === NO_ID ? repository.owner_id : importerId
    const contentOf = (issue: IncomingIssue) => contentOfIssue(issue, { posterId, labelIds, milestoneIds })

    const counts = commentCounts(batch)
    const created = batch.create.map((issue): NewRow<'issues'> => {
      const { number } = issue.record
      const comment_count = counts.get(number) ?? 0
      counts.delete(number)
      return { repository_id, number, kind: 'issue', comment_count, branch: '', ...contentOf(issue) }
    })
    const comments = batch.comments.map(
      ({ record, createdAt, posterId, reactionUserIds }): NewRow<'comments'> => ({
        repository_id,
        issue_number: record.issue_number,
        created_at: createdAt.getTime(),
        record: JSON.stringify(storedComment(record, posterId, reactionUserIds)),
      }),
    )
    const existing = (number: number) =>
      build.updateTable('issues').where('repository_id', '=', repository_id).where('number', '=', number)
    const changes = [
      ...batch.update.map((issue) => existing(issue.record.number).set(contentOf(issue))),
      ...[...counts].map(([number, count]) =>
        existing(number).set({ comment_count: sql<number>`comment_count + ${sql.lit(count)}` }),
      ),
    ]
    yield* this.#run(changes, context)
    yield* writer.insert('issues', created)
    yield* writer.insert('comments', comments)
  }

  /** Returns the ids of labels or milestones, by their names, after those that are missing have been made. */
  *#idsByName(
    { table, repository_id, named }: NamedIn,
    writer: RowWriter,
    context: Context<Tx>,
  ): SyncOrAsync<ReadonlyMap<string, number>> {
    const rows = yield* this.#rows(this.#inRepository(table, repository_id), context)
    const ids = new Map(rows.toReversed().map(({ id, name }) => [name, id])) // the first of several with one name
    const missing = new Map<string, NewRow<'labels'>>()
    for (const { name, record } of named) {
      if (!ids.has(name) && !missing.has(name)) missing.set(name, { repository_id, name, record })
    }
    const newIds = yield* writer.insertNumbered(table, [...missing.values()])
    for (const [at, name] of [...missing.keys()].entries()) ids.set(name, newIds[at] ?? NO_ID)
    return ids
  }

  #inRepository(table: 'labels' | 'milestones', repositoryId: number): Compilable<Row<'labels'>> {
    const { build } = this.#context
    const rows = build.selectFrom(table).select(columnsOf(this.#context, table))
    return rows.where('repository_id', '=', repositoryId).orderBy(sql.ref(`${table}.id`))
  }

  #rows<R>(query: Compilable<R>, { transaction }: Context<Tx>): SyncOrAsync<readonly R[]> {
    return wait(this.#database.rows(compileStatement(query), transaction))
  }

  *#run(changes: readonly Compilable<unknown>[], { transaction }: Context<Tx>): SyncOrAsync<void> {
    if (changes.length === 0) return
    const statements = changes.map((change): Statement<unknown> => ({ ...compileStatement(change), mayTakeLong: true }))
    yield* wait(this.#database.rowsOfEach<readonly unknown[]>(statements, transaction))
  }

  /** E-mail addresses are for the admins of the repository and of the site. Source: docs/behaviour.md, The standalone server */
  *#showsEmail(repositoryId: Id, { actor, transaction }: Context<Tx>): SyncOrAsync<boolean> {
    if (typeof actor === 'string') return actor === 'system'

    const userId = userIdOf(actor)
    const standing = yield* wait(this.#directory.repositoryStanding(repositoryId, userId, transaction))
    return standing.is_site_admin === 1 || repositoryRoleOf(standing, userId) === 'admin'
  }
}

/** Labels or milestones of a repository. */
interface NamedIn {
  readonly table: 'labels' | 'milestones'
  readonly repository_id: number
  readonly named: readonly Pick<NewRow<'labels'>, 'name' | 'record'>[]
}

/** What an issue refers to. */
interface Known {
  /** The poster of what has no account here. */
  readonly posterId: number
  readonly labelIds: ReadonlyMap<string, number>
  readonly milestoneIds: ReadonlyMap<string, number>
}

function namedLabel({ name, color, description }: LabelRecord): NamedIn['named'][number] {
  const label: LabelRecord = { name, ...(color && { color }), ...(description && { description }) }
  return { name, record: JSON.stringify(label) }
}

/** Keeps a milestone in the form that a canonical document has: without what is empty, and with times in UTC. */
function namedMilestone({ title, description, state, ...times }: MilestoneRecord): NamedIn['named'][number] {
  const { deadline, created, updated, closed } = times
  const milestone: MilestoneRecord = {
    title,
    ...(description && { description }),
    ...(deadline && { deadline: canonicalDateTime(deadline) }),
    ...(created && { created: canonicalDateTime(created) }),
    ...(updated && { updated: canonicalDateTime(updated) }),
    ...(closed && { closed: canonicalDateTime(closed) }),
    state,
  }
  return { name: title, record: JSON.stringify(milestone) }
}

/** The columns of an issue that an update replaces. */
function contentOfIssue({ record, posterId, assigneeIds, reactionUserIds }: IncomingIssue, known: Known) {
  const assigned = (record.assignees ?? []).map((name, at) => [name, assigneeIds[at]] as const)
  const accounts = storedAccounts([...assigned, ...reactorsOf(record, reactionUserIds)])
  const assignees = new Set(assigneeIds.flatMap((id) => (id === null ? [] : idOf(id))))
  return {
    state: record.state,
    poster_id: posterId === null ? known.posterId : idOf(posterId),
    poster_is_author: posterId === null ? 0 : 1,
    assignee_ids: JSON.stringify([...assignees]),
    milestone_id: (record.milestone && known.milestoneIds.get(record.milestone)) || null,
    record: JSON.stringify(withAccounts(storedIssue(record, known.labelIds), accounts)),
  }
}

function storedComment(
  record: CommentRecord,
  posterId: Id | null,
  reactionUserIds: readonly (Id | null)[],
): StoredComment {
  const accounts = storedAccounts([[record.poster_name, posterId], ...reactorsOf(record, reactionUserIds)])
  return withAccounts(record, accounts)
}

/** The spread comes last: a property behind it would make V8 keep a hidden class for every record of a large import. */
function withAccounts<R extends object>(record: R, accounts: StoredAccounts | undefined): R {
  return accounts === undefined ? record : { accounts, ...record }
}

function reactorsOf({ reactions = [] }: IssueRecord | CommentRecord, ids: readonly (Id | null)[]) {
  return reactions.map(({ user_name }, at) => [user_name, ids[at]] as const)
}

function shownComment({ accounts: _, ...record }: StoredComment): CommentRecord {
  return record
}

/** Names the labels of an issue by their ids. The properties stay in the order of the schema. */
function storedIssue(issue: IssueRecord, ids: ReadonlyMap<string, number>): StoredIssue {
  const { labels, ...others } = issue
  return labels === undefined ? others : { ...issue, labels: labels.flatMap(({ name }) => ids.get(name) ?? []) }
}

/** The reverse of `storedIssue`. */
function shownIssue(issue: StoredIssue, labels: ReadonlyMap<number, LabelRecord>): IssueRecord {
  const { accounts: _, ...shown } = issue
  const { labels: ids, ...others } = shown
  return ids === undefined ? others : { ...shown, labels: ids.flatMap((id) => labels.get(id) ?? []) }
}

/** How many comments each issue gets, by its number. */
function commentCounts({ comments }: IncomingBatch): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { record } of comments) counts.set(record.issue_number, (counts.get(record.issue_number) ?? 0) + 1)
  return counts
}

/** Leaves the address of the author out if the caller may not see it. */
function visible<R extends IssueRecord | CommentRecord>(record: R, showsEmail: boolean): R {
  if (!showsEmail) delete record.poster_email
  return record
}
