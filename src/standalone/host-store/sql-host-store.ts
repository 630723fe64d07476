import type { Id, IssueRef, MaybePromise } from '../../index.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { RowsOfEach, Session } from '../../storage/sql/session.ts'
import { query } from '../../storage/sql/session.ts'
import type { Account, Seed } from '../fixture/seed.ts'
import { normalizeName } from '../host-names.ts'
import { whenReady } from '../host-ports.ts'
import type { HostDatabase } from './host-database.ts'
import type { HostQueries } from './host-queries.ts'
import { hostQueries, NO_ONE } from './host-queries.ts'
import type { HostStore, IssueDetails, OrganizationAccess, RepositoryAccess, Standing } from './host-store.ts'
import type { AccountRow, AssigneeRow, IssueRow, LabelRow, RepositoryRow, ShownMilestoneRow } from './sql-rows.ts'
import {
  accountOf,
  issueOf,
  labelOf,
  milestoneOf,
  organizationAccess,
  originalAuthorOf,
  repositoryAccess,
  repositoryOf,
} from './sql-rows.ts'
import { writeSeed } from './write-seed.ts'

/** A store in the host's own tables, in the same database as the forge's tables. */
export class SqlHostStore<Tx> implements HostStore<Tx> {
  readonly #database: HostDatabase<Tx>
  readonly #queries: HostQueries

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#queries = hostQueries(database.context)
  }

  /**
   * Loads the accounts and records of a seed if there is no account yet, and returns whether it did. Runs inside the
   * caller's transaction.
   *
   * @param forgeCalls - load the parts that belong to the forge (badges, blocks, pins), one after the other
   */
  *load(
    session: Pick<Session, 'all' | 'batch'>,
    seed: Seed,
    forgeCalls: readonly (() => unknown)[],
  ): SyncOrAsync<boolean> {
    const found = yield* query(session, this.#queries.anyAccount({}))
    if (found.length > 0) return false

    yield* writeSeed(session, this.#database.context, seed)
    for (const call of forgeCalls) yield* wait(call())
    return true
  }

  findUserByToken(digest: string): MaybePromise<{ readonly id: Id; readonly username: string } | undefined> {
    return whenReady(
      this.#database.rows(this.#queries.tokenOwner({ digest })),
      ([row]) => row && { id: row.id, username: row.name },
    )
  }

  findAccount(name: string): MaybePromise<{ readonly id: Id; readonly kind: 'user' | 'organization' } | undefined> {
    return whenReady(this.#database.rows(this.#queries.account({ name: normalizeName(name) })), ([row]) => row)
  }

  findRepository(owner: string, name: string): MaybePromise<{ readonly id: Id } | undefined> {
    const asked = { owner: normalizeName(owner), name: normalizeName(name) }
    return whenReady(this.#database.rows(this.#queries.repository(asked)), ([row]) => row)
  }

  findIssue(repositoryId: Id, index: number): MaybePromise<IssueRef | undefined> {
    return whenReady(
      this.#database.rows(this.#queries.issue({ repositoryId, index })),
      ([row]) => row && { id: row.id, repositoryId, kind: row.kind },
    )
  }

  isSiteAdmin(userId: Id): MaybePromise<boolean> {
    return whenReady(this.#database.rows(this.#queries.siteAdmin({ userId })), (rows) => rows.length > 0)
  }

  isMember(organizationId: Id, userId: Id, transaction?: Tx | undefined): MaybePromise<boolean> {
    const statement = this.#queries.member({ organizationId, userId })
    return whenReady(this.#database.rows(statement, transaction), (rows) => rows.length > 0)
  }

  organizationStanding(organizationId: Id, userId: Id | undefined): MaybePromise<Standing<OrganizationAccess>> {
    const statement = this.#queries.organizationStanding({ organizationId, userId: userId ?? NO_ONE })
    return whenReady(this.#database.rows(statement), ([row]) => ({
      isSiteAdmin: row?.is_site_admin === 1,
      access: row && organizationAccess(row),
    }))
  }

  repositoryStanding(repositoryId: Id, userId: Id | undefined): MaybePromise<Standing<RepositoryAccess>> {
    const statement = this.#queries.repositoryStanding({ repositoryId, userId: userId ?? NO_ONE })
    return whenReady(this.#database.rows(statement), ([row]) => ({
      isSiteAdmin: row?.is_site_admin === 1,
      access: row && repositoryAccess(row, userId),
    }))
  }

  accounts(ids: readonly Id[]): MaybePromise<readonly (Account | undefined)[]> {
    return whenReady(this.#database.rows(this.#queries.accounts({ ids })), (rows) => {
      const found = accountsById(rows)
      return ids.map((id) => found.get(id))
    })
  }

  issues(ids: readonly Id[], viewerId?: Id | undefined): MaybePromise<readonly (IssueDetails | undefined)[]> {
    const { issues, repositories, shownAccounts, labels, assignees, milestones } = this.#queries
    const statements = [
      issues({ ids }),
      repositories({ ids }),
      shownAccounts({ ids, viewerId: viewerId ?? NO_ONE }),
      labels({ ids }),
      assignees({ ids }),
      milestones({ ids }),
    ] as const
    return whenReady(this.#database.rowsOfEach<IssueTables>(statements), (tables) => detailsOf(tables, ids, viewerId))
  }
}

/** The rows that belong to the issues of a page. */
type IssueTables = readonly [IssueRow, RepositoryRow, AccountRow, LabelRow, AssigneeRow, ShownMilestoneRow]

function detailsOf(
  [issues, repositories, shown, labels, assignees, milestones]: RowsOfEach<IssueTables>,
  ids: readonly Id[],
  viewerId: Id | undefined,
): readonly (IssueDetails | undefined)[] {
  const rows = new Map(issues.map((row) => [row.id, row]))
  const repositoryRows = new Map(repositories.map((row) => [row.id, row]))
  const accounts = accountsById(shown)
  const labelRows = byIssue(labels)
  const assigneeRows = byIssue(assignees)
  const milestoneRows = new Map(milestones.map((row) => [row.id, row]))

  return ids.map((id) => {
    const row = rows.get(id)
    const repository = repositoryRows.get(row?.repository_id ?? '')
    const owner = accounts.get(repository?.owner_id ?? '')
    const poster = accounts.get(row?.poster_id ?? '')
    if (row === undefined || repository === undefined || owner === undefined || poster === undefined) return undefined

    const itsLabels = distinct(labelRows.get(id) ?? []).map(labelOf)
    const milestone = milestoneRows.get(row.milestone_id ?? '')
    const itsAssignees = (assigneeRows.get(id) ?? []).flatMap(({ user_id }) => accounts.get(user_id) ?? [])
    return {
      issue: issueOf(
        row,
        itsLabels.map((label) => label.id),
        itsAssignees.map((assignee) => assignee.id),
      ),
      repository: repositoryOf(repository),
      owner,
      poster,
      labels: itsLabels,
      assignees: itsAssignees,
      milestone: milestone && milestoneOf(milestone),
      originalAuthor: originalAuthorOf(row),
      openIssues: repository.open_issues,
      openPullRequests: repository.open_pull_requests,
      viewer: accounts.get(viewerId ?? ''),
    }
  })
}

/** A document may name a label of an issue twice. */
function distinct(rows: readonly LabelRow[]): readonly LabelRow[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

function byIssue<Row extends { readonly issue_id: Id }>(rows: readonly Row[]): ReadonlyMap<Id, readonly Row[]> {
  const found = new Map<Id, Row[]>()
  for (const row of rows) {
    const those = found.get(row.issue_id)
    if (those === undefined) found.set(row.issue_id, [row])
    else those.push(row)
  }
  return found
}

function accountsById(rows: readonly AccountRow[]): ReadonlyMap<Id, Account> {
  return new Map(rows.map((row) => [row.id, accountOf(row)]))
}
