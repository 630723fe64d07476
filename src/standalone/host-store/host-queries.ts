import { sql } from 'kysely'
import type { Id, PinKind } from '../../index.ts'
import type { Columns } from '../../storage/sql/columns.ts'
import type { Query, QueryValues, Slot } from '../../storage/sql/query.ts'
import { defineQuery } from '../../storage/sql/query.ts'
import type { HostContext } from './host-tables.ts'
import type {
  AccountRow,
  AssigneeRow,
  IssueRow,
  LabelRow,
  OrganizationStandingRow,
  RepositoryRow,
  RepositoryStandingRow,
  ShownMilestoneRow,
} from './sql-rows.ts'

interface PageIds {
  readonly ids: readonly Id[]
}

/** The statements of the store. */
export interface HostQueries {
  readonly anyAccount: Query<Record<never, never>, unknown>
  readonly tokenOwner: Query<{ readonly digest: string }, { readonly id: Id; readonly name: string }>
  readonly account: Query<{ readonly name: string }, { readonly id: Id; readonly kind: 'user' | 'organization' }>
  readonly repository: Query<{ readonly owner: string; readonly name: string }, { readonly id: Id }>
  readonly issue: Query<
    { readonly repositoryId: Id; readonly index: number },
    { readonly id: Id; readonly kind: PinKind }
  >
  readonly siteAdmin: Query<{ readonly userId: Id }, unknown>
  readonly member: Query<{ readonly organizationId: Id; readonly userId: Id }, unknown>
  readonly organizationStanding: Query<{ readonly organizationId: Id; readonly userId: Id }, OrganizationStandingRow>
  readonly repositoryStanding: Query<{ readonly repositoryId: Id; readonly userId: Id }, RepositoryStandingRow>
  readonly accounts: Query<PageIds, AccountRow>
  readonly issues: Query<PageIds, IssueRow>
  readonly repositories: Query<PageIds, RepositoryRow>
  readonly shownAccounts: Query<PageIds & { readonly viewerId: Id }, AccountRow>
  readonly labels: Query<PageIds, LabelRow>
  readonly assignees: Query<PageIds, AssigneeRow>
  readonly milestones: Query<PageIds, ShownMilestoneRow>
}

/** Defines the statements of the store. */
export function hostQueries(context: HostContext): HostQueries {
  return {
    anyAccount: defineQuery(() => context.build.selectFrom('accounts').select('kind').limit(1)),
    ...lookUps(context),
    ...standings(context),
    ...pageQueries(context),
  }
}

/** The id of nothing. */
export const NO_ONE = '0'

/** An id that the host assigned. Callers may ask for any other text: it is that of nothing. */
function known<P>(slot: Slot<P, Id>): Slot<P, Id> {
  return slot.as((id) => (isAssigned(id) ? id : NO_ONE))
}

function knownList<P>(slot: Slot<P, readonly Id[]>): Slot<P, readonly Id[]> {
  return slot.as((ids) => ids.filter(isAssigned))
}

function isAssigned(id: Id): boolean {
  return /^[1-9]\d{0,15}$/.test(id)
}

type LookUps = Pick<HostQueries, 'tokenOwner' | 'account' | 'repository' | 'issue' | 'siteAdmin' | 'member'>

function lookUps({ build, columns, ids }: HostContext): LookUps {
  return {
    tokenOwner: defineQuery((given) =>
      build
        .selectFrom('tokens')
        .innerJoin('accounts', 'accounts.id', 'tokens.user_id')
        .select([columns.id('accounts.id').as('id'), 'accounts.name'])
        .where('tokens.digest', '=', given('digest')),
    ),
    account: defineQuery((given) =>
      build
        .selectFrom('accounts')
        .select([columns.id('id').as('id'), 'kind'])
        .where('folded_name', '=', given('name')),
    ),
    repository: defineQuery((given) =>
      build
        .selectFrom('accounts')
        .innerJoin('repositories', 'repositories.owner_id', 'accounts.id')
        .select(columns.id('repositories.id').as('id'))
        .where('accounts.folded_name', '=', given('owner'))
        .where('repositories.folded_name', '=', given('name')),
    ),
    issue: defineQuery((given) =>
      build
        .selectFrom('issues')
        .select([columns.id('id').as('id'), 'kind'])
        .where('repository_id', '=', ids.given('repository', known(given('repositoryId'))))
        .where(sql`issue_index`, '=', ids.givenInteger(given('index').as(String))),
    ),
    siteAdmin: defineQuery((given) =>
      build
        .selectFrom('accounts')
        .select('kind')
        .where('id', '=', ids.given('user', known(given('userId'))))
        .where('is_site_admin', '=', sql.lit(1)),
    ),
    member: defineQuery((given) =>
      build
        .selectFrom('members')
        .select('role')
        .where('organization_id', '=', ids.given('organization', known(given('organizationId'))))
        .where('user_id', '=', ids.given('user', known(given('userId')))),
    ),
  }
}

/** One row, whatever does not exist: the caller may be a site admin all the same. */
const ASKED = sql<{ readonly one: number }>`(select 1 as one)`.as('asked')

function standings({
  build,
  columns,
  ids,
}: HostContext): Pick<HostQueries, 'organizationStanding' | 'repositoryStanding'> {
  const user = <P extends { readonly userId: Id }>(given: QueryValues<P>) =>
    ids.given('user', known<P>(given('userId')))

  return {
    organizationStanding: defineQuery((given) =>
      build
        .selectFrom(ASKED)
        .leftJoin('accounts as caller', (join) => join.on('caller.id', '=', user(given)))
        .leftJoin('accounts as organization', (join) =>
          join
            .on('organization.id', '=', ids.given('organization', known(given('organizationId'))))
            .on('organization.kind', '=', sql.lit('organization')),
        )
        .leftJoin('members', (join) =>
          join.onRef('members.organization_id', '=', 'organization.id').on('members.user_id', '=', user(given)),
        )
        .select([
          columns.numberOrNull('caller.is_site_admin').as('is_site_admin'),
          'organization.visibility',
          'members.role',
        ]),
    ),
    repositoryStanding: defineQuery((given) =>
      build
        .selectFrom(ASKED)
        .leftJoin('accounts as caller', (join) => join.on('caller.id', '=', user(given)))
        .leftJoin('repositories', (join) =>
          join.on('repositories.id', '=', ids.given('repository', known(given('repositoryId')))),
        )
        .leftJoin('accounts as owner', 'owner.id', 'repositories.owner_id')
        .leftJoin('members', (join) =>
          join.onRef('members.organization_id', '=', 'owner.id').on('members.user_id', '=', user(given)),
        )
        .leftJoin('collaborators', (join) =>
          join
            .onRef('collaborators.repository_id', '=', 'repositories.id')
            .on('collaborators.user_id', '=', user(given)),
        )
        .select([
          columns.numberOrNull('caller.is_site_admin').as('is_site_admin'),
          columns.numberOrNull('repositories.is_private').as('is_private'),
          columns.idOrNull('owner.id').as('owner_id'),
          'owner.visibility',
          'members.role',
          'collaborators.role as collaboration',
        ]),
    ),
  }
}

type PageQueries = Pick<
  HostQueries,
  'accounts' | 'issues' | 'repositories' | 'shownAccounts' | 'labels' | 'assignees' | 'milestones'
>

/** What a page shows, each kind of record in one statement. */
function pageQueries({ build, columns, ids, dialect }: HostContext): PageQueries {
  const page = <P extends PageIds>(given: QueryValues<P>) => ids.givenList('issue', knownList<P>(given('ids')))
  const open = (kind: PinKind) =>
    dialect.number(
      build
        .selectFrom('issues')
        .select((counted) => counted.fn.countAll().as('count'))
        .whereRef('issues.repository_id', '=', sql.ref('repositories.id'))
        .where('issues.state', '=', sql.lit('open'))
        .where('issues.kind', '=', sql.lit(kind)),
    )
  const having = (state: 'open' | 'closed') =>
    dialect.number(
      build
        .selectFrom('issues')
        .select((counted) => counted.fn.countAll().as('count'))
        .whereRef('issues.milestone_id', '=', sql.ref('milestones.id'))
        .where('issues.state', '=', sql.lit(state)),
    )

  return {
    accounts: defineQuery((given) =>
      build
        .selectFrom('accounts')
        .select(accountColumns(columns))
        .where('accounts.id', 'in', ids.givenList('user', knownList(given('ids')))),
    ),
    issues: defineQuery((given) =>
      build.selectFrom('issues').select(issueColumns(columns)).where('id', 'in', page(given)),
    ),
    repositories: defineQuery((given) =>
      build
        .selectFrom('repositories')
        .select(repositoryColumns(columns))
        .select([open('issue').as('open_issues'), open('pullRequest').as('open_pull_requests')])
        .where(
          'repositories.id',
          'in',
          build.selectFrom('issues as listed').select('listed.repository_id').where('listed.id', 'in', page(given)),
        ),
    ),
    // A join: MariaDB would run a union behind `in` again for each account.
    shownAccounts: defineQuery((given) =>
      build
        .selectFrom(
          build
            .selectFrom('issues')
            .select('issues.poster_id as shown_id')
            .where('issues.id', 'in', page(given))
            .union(
              build
                .selectFrom('issues')
                .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
                .select('repositories.owner_id as shown_id')
                .where('issues.id', 'in', page(given)),
            )
            .union(
              build
                .selectFrom('issue_assignees')
                .select('issue_assignees.user_id as shown_id')
                .where('issue_assignees.issue_id', 'in', page(given)),
            )
            .union(build.selectNoFrom(ids.given('user', known(given('viewerId'))).as('shown_id')))
            .as('shown'),
        )
        .innerJoin('accounts', 'accounts.id', 'shown.shown_id')
        .select(accountColumns(columns)),
    ),
    labels: defineQuery((given) =>
      build
        .selectFrom('issue_labels')
        .innerJoin('labels', 'labels.id', 'issue_labels.label_id')
        .select([
          columns.id('issue_labels.issue_id').as('issue_id'),
          columns.id('labels.id').as('id'),
          columns.id('labels.repository_id').as('repository_id'),
          'labels.name',
          'labels.color',
          'labels.description',
        ])
        .where('issue_labels.issue_id', 'in', page(given))
        .orderBy('issue_labels.place'),
    ),
    assignees: defineQuery((given) =>
      build
        .selectFrom('issue_assignees')
        .select([columns.id('issue_id').as('issue_id'), columns.id('user_id').as('user_id')])
        .where('issue_id', 'in', page(given))
        .orderBy('place'),
    ),
    milestones: defineQuery((given) =>
      build
        .selectFrom('milestones')
        .select([columns.id('milestones.id').as('id'), 'milestones.title', 'milestones.description'])
        .select([
          'milestones.state',
          columns.numberOrNull('milestones.deadline').as('deadline'),
          columns.numberOrNull('milestones.created_at').as('created_at'),
          columns.numberOrNull('milestones.updated_at').as('updated_at'),
          columns.numberOrNull('milestones.closed_at').as('closed_at'),
          having('open').as('open_issues'),
          having('closed').as('closed_issues'),
        ])
        .where(
          'milestones.id',
          'in',
          build.selectFrom('issues as listed').select('listed.milestone_id').where('listed.id', 'in', page(given)),
        ),
    ),
  }
}

/** Selects the columns of `AccountRow`. */
function accountColumns(columns: Columns) {
  return [
    columns.id('accounts.id').as('id'),
    'accounts.kind',
    'accounts.name',
    'accounts.full_name',
    'accounts.email',
    columns.number('accounts.hides_email').as('hides_email'),
    columns.number('accounts.is_site_admin').as('is_site_admin'),
    'accounts.visibility',
    'accounts.location',
    'accounts.website',
    'accounts.description',
    columns.number('accounts.created_at').as('created_at'),
  ] as const
}

/** Selects the columns of `RepositoryRow`, without what is open. */
function repositoryColumns(columns: Columns) {
  return [
    columns.id('repositories.id').as('id'),
    columns.id('repositories.owner_id').as('owner_id'),
    'repositories.name',
    'repositories.description',
    columns.number('repositories.is_private').as('is_private'),
    columns.number('repositories.is_archived').as('is_archived'),
    'repositories.default_branch',
    columns.number('repositories.created_at').as('created_at'),
  ] as const
}

/** Selects the columns of `IssueRow`. */
function issueColumns(columns: Columns) {
  return [
    columns.id('id').as('id'),
    columns.id('repository_id').as('repository_id'),
    columns.number('issue_index').as('issue_index'),
    'kind',
    'title',
    'body',
    columns.id('poster_id').as('poster_id'),
    'state',
    columns.number('is_locked').as('is_locked'),
    'branch',
    'ref',
    columns.idOrNull('milestone_id').as('milestone_id'),
    columns.numberOrNull('author_id').as('author_id'),
    'author_name',
    columns.number('poster_is_author').as('poster_is_author'),
    columns.number('comment_count').as('comment_count'),
    columns.number('created_at').as('created_at'),
    columns.number('updated_at').as('updated_at'),
    columns.numberOrNull('closed_at').as('closed_at'),
  ] as const
}
