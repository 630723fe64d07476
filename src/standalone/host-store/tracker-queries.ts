import { sql } from 'kysely'
import type { Id } from '../../index.ts'
import type { Query, QueryValues } from '../../storage/sql/query.ts'
import { defineQuery } from '../../storage/sql/query.ts'
import type { HostContext, HostTables } from './host-tables.ts'
import type { ListQuery } from './list-query.ts'
import { defineListQuery } from './list-query.ts'

/** A repository, and numbers in it. */
interface Numbered {
  readonly repositoryId: Id
  readonly numbers: readonly number[]
}

/** A repository, and the next numbers in it. */
interface NextNumbers {
  readonly repositoryId: Id
  readonly after: number
  readonly limit: number
}

interface OfThese {
  readonly ids: readonly Id[]
}

/** An issue with the title of its milestone. */
export interface TrackedIssueRow {
  readonly id: Id
  readonly issue_index: number
  readonly kind: HostTables['issues']['kind']
  readonly title: string
  readonly body: string
  readonly state: 'open' | 'closed'
  readonly is_locked: number
  readonly ref: string
  readonly milestone: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly closed_at: number | null
  readonly offsets: string | null
  readonly author_id: number | null
  readonly author_name: string | null
  readonly author_email: string | null
}

/** An issue without its text, if that is long. */
export interface ListedIssueRow extends Omit<TrackedIssueRow, 'body'> {
  /** Null: it has more than `LONG_TEXT` bytes. */
  readonly body: string | null
}

/** The account of the poster of an issue. */
export interface PosterRow {
  readonly issue_id: number
  readonly id: Id
  readonly name: string
  readonly email: string
  readonly hides_email: number
}

/** The number of a deleted issue. */
export interface DeletedRow {
  readonly issue_index: number
}

/** A label of an issue. */
export interface IssueLabelRow {
  readonly issue_id: number
  readonly name: string
  readonly color: string
  readonly description: string
}

/** The name of an assignee: the document's, or that of the account. */
export interface AssigneeNameRow {
  readonly issue_id: number
  readonly name: string
}

/** A reaction to an issue or a comment. */
export interface ReactionRow {
  /** The issue or comment. */
  readonly owner_id: number
  readonly user_id: number
  readonly user_name: string | null
  readonly content: string
}

/** A comment with the number of its issue. */
export interface CommentRow {
  readonly id: Id
  readonly issue_index: number
  readonly content: string
  readonly created_at: number
  readonly updated_at: number
  readonly offsets: string | null
  readonly author_id: number
  readonly author_name: string
  readonly author_email: string | null
}

/** The last ids that were assigned. */
export interface LastIdsRow {
  readonly issue: number
  readonly label: number
  readonly milestone: number
  readonly comment: number
}

/** A label of a repository. */
export interface RepositoryLabelRow extends Omit<IssueLabelRow, 'issue_id'> {
  readonly id: Id
}

/** A milestone of a repository. */
export type MilestoneRow = Omit<HostTables['milestones'], 'repository_id'>

/** The statements of the tracker that read. */
export interface TrackerQueries {
  readonly issuesNumbered: Query<Numbered, TrackedIssueRow>
  readonly nextIssues: Query<NextNumbers, ListedIssueRow>
  readonly nextIssue: Query<Omit<NextNumbers, 'limit'>, TrackedIssueRow>
  readonly deletedNumbered: Query<Numbered, DeletedRow>
  readonly nextDeleted: Query<NextNumbers, DeletedRow>
  readonly posters: Query<OfThese, PosterRow>
  readonly labels: ListQuery<OfThese, IssueLabelRow>
  readonly assigneeNames: ListQuery<OfThese, AssigneeNameRow>
  readonly issueReactions: ListQuery<OfThese, ReactionRow>
  readonly comments: Query<Numbered, CommentRow>
  readonly commentReactions: ListQuery<OfThese, ReactionRow>
  readonly users: Query<{ readonly names: readonly string[] }, { readonly id: Id; readonly name: string }>
  readonly lastIds: Query<Record<never, never>, LastIdsRow>
  readonly issueIds: Query<Numbered, { readonly id: Id; readonly issue_index: number }>
  readonly repositoryLabels: Query<{ readonly repositoryId: Id }, RepositoryLabelRow>
  readonly milestones: Query<{ readonly repositoryId: Id }, MilestoneRow>
  readonly owner: Query<{ readonly repositoryId: Id }, { readonly id: Id }>
}

/** Defines the statements of the tracker that read. */
export function trackerQueries(context: HostContext): TrackerQueries {
  return { ...issueQueries(context), ...partQueries(context), ...commentQueries(context), ...lookUps(context) }
}

/** The longest text of an issue, in bytes, that is read together with others. */
const LONG_TEXT = 100_000

const toNumbers = (numbers: readonly number[]): string => JSON.stringify(numbers)

function numbersOf<P extends { readonly numbers: readonly number[] }>({ dialect }: HostContext, given: QueryValues<P>) {
  return dialect.elements(given('numbers').as(toNumbers), dialect.casts.integer)
}

function issueQueries(
  context: HostContext,
): Pick<
  TrackerQueries,
  'issuesNumbered' | 'nextIssues' | 'nextIssue' | 'deletedNumbered' | 'nextDeleted' | 'issueIds'
> {
  const { build, columns, ids } = context
  const inRepository = <P extends { readonly repositoryId: Id }>(given: QueryValues<P>) =>
    ids.given('repository', given('repositoryId'))
  const after = <P extends Omit<NextNumbers, 'limit'>>(given: QueryValues<P>) =>
    ids.givenInteger(given('after').as(String))
  const listed = build
    .selectFrom('issues')
    .leftJoin('milestones', 'milestones.id', 'issues.milestone_id')
    .select([
      columns.id('issues.id').as('id'),
      columns.number('issues.issue_index').as('issue_index'),
      'issues.kind',
      'issues.title',
      'issues.state',
      columns.number('issues.is_locked').as('is_locked'),
      'issues.ref',
      'milestones.title as milestone',
      columns.number('issues.created_at').as('created_at'),
      columns.number('issues.updated_at').as('updated_at'),
      columns.numberOrNull('issues.closed_at').as('closed_at'),
      'issues.offsets',
      columns.numberOrNull('issues.author_id').as('author_id'),
      'issues.author_name',
      'issues.author_email',
    ])
    .orderBy('issues.issue_index')
  const issues = listed.select('issues.body')
  const shortText = sql<
    string | null
  >`case when octet_length(${sql.ref('issues.body')}) <= ${sql.lit(LONG_TEXT)} then ${sql.ref('issues.body')} end`
  const deleted = build
    .selectFrom('deleted_issues')
    .select(columns.number('issue_index').as('issue_index'))
    .orderBy('issue_index')

  return {
    issuesNumbered: defineQuery((given) =>
      issues
        .where('issues.repository_id', '=', inRepository(given))
        .where(sql.ref('issues.issue_index'), 'in', numbersOf(context, given)),
    ),
    nextIssues: defineQuery((given) =>
      listed
        .select(shortText.as('body'))
        .where('issues.repository_id', '=', inRepository(given))
        .where(sql.ref('issues.issue_index'), '>', after(given))
        .limit(given('limit')),
    ),
    nextIssue: defineQuery((given) =>
      issues
        .where('issues.repository_id', '=', inRepository(given))
        .where(sql.ref('issues.issue_index'), '>', after(given))
        .limit(sql.lit(1)),
    ),
    deletedNumbered: defineQuery((given) =>
      deleted.where('repository_id', '=', inRepository(given)).where(sql`issue_index`, 'in', numbersOf(context, given)),
    ),
    nextDeleted: defineQuery((given) =>
      deleted
        .where('repository_id', '=', inRepository(given))
        .where(sql`issue_index`, '>', after(given))
        .limit(given('limit')),
    ),
    issueIds: defineQuery((given) =>
      build
        .selectFrom('issues')
        .select([columns.id('id').as('id'), columns.number('issue_index').as('issue_index')])
        .where('repository_id', '=', inRepository(given))
        .where(sql`issue_index`, 'in', numbersOf(context, given)),
    ),
  }
}

function partQueries(
  context: HostContext,
): Pick<TrackerQueries, 'posters' | 'labels' | 'assigneeNames' | 'issueReactions'> {
  const { build, columns, ids } = context
  return {
    // A left join: MariaDB would otherwise read all issues of the few accounts of a small host.
    posters: defineQuery((given) =>
      build
        .selectFrom('issues')
        .leftJoin('accounts', 'accounts.id', 'issues.poster_id')
        .select([
          columns.number('issues.id').as('issue_id'),
          columns.id('accounts.id').as('id'),
          sql.ref<string>('accounts.name').as('name'),
          sql.ref<string>('accounts.email').as('email'),
          columns.number('accounts.hides_email').as('hides_email'),
        ])
        .where('issues.id', 'in', ids.givenList('issue', given('ids'))),
    ),
    labels: defineListQuery(context, ['issue_id', 'name', 'color', 'description'], (given) =>
      build
        .selectFrom('issue_labels')
        .innerJoin('labels', 'labels.id', 'issue_labels.label_id')
        .select([columns.number('issue_labels.issue_id').as('issue_id'), 'labels.name', 'labels.color'])
        .select('labels.description')
        .where('issue_labels.issue_id', 'in', ids.givenList('issue', given('ids')))
        .orderBy('issue_labels.issue_id')
        .orderBy('issue_labels.place'),
    ),
    assigneeNames: defineListQuery(context, ['issue_id', 'name'], (given) =>
      build
        .selectFrom('issue_assignee_names')
        .select([columns.number('issue_id').as('issue_id'), 'name', columns.number('place').as('place')])
        .where('issue_id', 'in', ids.givenList('issue', given('ids')))
        .unionAll(
          build
            .selectFrom('issue_assignees')
            .leftJoin('accounts', 'accounts.id', 'issue_assignees.user_id')
            .leftJoin('issue_assignee_names as named', (join) =>
              join
                .onRef('named.issue_id', '=', 'issue_assignees.issue_id')
                .onRef('named.place', '=', 'issue_assignees.place'),
            )
            .select([
              columns.number('issue_assignees.issue_id').as('issue_id'),
              sql.ref<string>('accounts.name').as('name'),
              columns.number('issue_assignees.place').as('place'),
            ])
            .where('issue_assignees.issue_id', 'in', ids.givenList('issue', given('ids')))
            .where('named.issue_id', 'is', null),
        )
        .orderBy('place'),
    ),
    issueReactions: defineListQuery(context, REACTION_COLUMNS, (given) =>
      build
        .selectFrom('issue_reactions')
        .select([columns.number('issue_id').as('owner_id'), columns.number('user_id').as('user_id')])
        .select(['user_name', 'content'])
        .where('issue_id', 'in', ids.givenList('issue', given('ids')))
        .orderBy('issue_id')
        .orderBy('place'),
    ),
  }
}

const REACTION_COLUMNS = ['owner_id', 'user_id', 'user_name', 'content'] as const

function commentQueries(context: HostContext): Pick<TrackerQueries, 'comments' | 'commentReactions'> {
  const { build, columns, ids } = context
  return {
    comments: defineQuery((given) =>
      build
        .selectFrom('comments')
        .innerJoin('issues', 'issues.id', 'comments.issue_id')
        .select([
          columns.id('comments.id').as('id'),
          columns.number('issues.issue_index').as('issue_index'),
          'comments.content',
          columns.number('comments.created_at').as('created_at'),
          columns.number('comments.updated_at').as('updated_at'),
          'comments.offsets',
          columns.number('comments.author_id').as('author_id'),
          'comments.author_name',
          'comments.author_email',
        ])
        .where('issues.repository_id', '=', ids.given('repository', given('repositoryId')))
        .where(sql.ref('issues.issue_index'), 'in', numbersOf(context, given))
        .orderBy('issues.issue_index')
        .orderBy('comments.created_at')
        .orderBy('comments.id'),
    ),
    commentReactions: defineListQuery(context, REACTION_COLUMNS, (given) =>
      build
        .selectFrom('comment_reactions')
        .select([columns.number('comment_id').as('owner_id'), columns.number('user_id').as('user_id')])
        .select(['user_name', 'content'])
        .where('comment_id', 'in', ids.givenList('issue', given('ids')))
        .orderBy('comment_id')
        .orderBy('place'),
    ),
  }
}

function lookUps({
  build,
  columns,
  ids,
  dialect,
}: HostContext): Pick<TrackerQueries, 'users' | 'lastIds' | 'repositoryLabels' | 'milestones' | 'owner'> {
  const inRepository = <P extends { readonly repositoryId: Id }>(given: QueryValues<P>) =>
    ids.given('repository', given('repositoryId'))
  const last = (...tables: readonly ('issues' | 'deleted_issues' | 'labels' | 'milestones' | 'comments')[]) => {
    const found = tables.map((table) => sql`select max(id) as id from ${sql.table(table)}`)
    return dialect.number(sql`(select coalesce(max(id), 0) from (${sql.join(found, sql` union all `)}) as used)`)
  }

  return {
    users: defineQuery((given) =>
      build
        .selectFrom('accounts')
        .select([columns.id('id').as('id'), 'folded_name as name'])
        .where('kind', '=', sql.lit('user'))
        .where(
          'folded_name',
          'in',
          dialect.elements(
            given('names').as((names) => JSON.stringify(names)),
            dialect.casts.text,
          ),
        ),
    ),
    lastIds: defineQuery(() =>
      build.selectNoFrom([
        last('issues', 'deleted_issues').as('issue'),
        last('labels').as('label'),
        last('milestones').as('milestone'),
        last('comments').as('comment'),
      ]),
    ),
    repositoryLabels: defineQuery((given) =>
      build
        .selectFrom('labels')
        .select([columns.id('id').as('id'), 'name', 'color', 'description'])
        .where('repository_id', '=', inRepository(given))
        .orderBy('labels.id'),
    ),
    milestones: defineQuery((given) =>
      build
        .selectFrom('milestones')
        .select([
          columns.id('id').as('id'),
          'title',
          'description',
          'state',
          columns.numberOrNull('deadline').as('deadline'),
          columns.numberOrNull('created_at').as('created_at'),
          columns.numberOrNull('updated_at').as('updated_at'),
          columns.numberOrNull('closed_at').as('closed_at'),
          'offsets',
        ])
        .where('repository_id', '=', inRepository(given))
        .orderBy('milestones.id'),
    ),
    owner: defineQuery((given) =>
      build.selectFrom('repositories').select(columns.id('owner_id').as('id')).where('id', '=', inRepository(given)),
    ),
  }
}
