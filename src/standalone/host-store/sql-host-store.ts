import type { Id, IssueRef, PinKind } from '../../index.ts'
import type { FixtureVisibility } from '../fixture/fixture.ts'
import type { Account, CollaboratorRole, Label, Repository, Seed } from '../fixture/seed.ts'
import { normalizeName } from '../host-names.ts'
import type { HostStore, IssueDetails, OrganizationAccess, RepositoryAccess } from './host-store.ts'
import type { AccountRow, IssueRow, LabelRow, RepositoryRow } from './sql-rows.ts'
import {
  ACCOUNT_COLUMNS,
  accountOf,
  ISSUE_COLUMNS,
  issueOf,
  labelOf,
  REPOSITORY_COLUMNS,
  repositoryOf,
} from './sql-rows.ts'
import type { SqlSession } from './sql-session.ts'
import { writeSeed } from './write-seed.ts'

type Membership = 'owner' | 'member'

/** A store in the host's own tables, in the same database as the forge's tables. */
export class SqlHostStore implements HostStore {
  readonly #session: SqlSession
  readonly #details: IssueDetailsReader

  constructor(session: SqlSession) {
    this.#session = session
    this.#details = new IssueDetailsReader(session)
  }

  isEmpty(): boolean {
    return !this.#session.has('select id from host_accounts limit 1')
  }

  /** Runs inside the caller's transaction. */
  load(seed: Seed): void {
    if (!this.isEmpty()) throw new TypeError('the store is not empty')
    writeSeed(this.#session, seed)
  }

  findUserByToken(digest: string): { readonly id: Id; readonly username: string } | undefined {
    const row = this.#session.first<{ id: number; name: string }>(
      'select a.id, a.name from host_tokens t join host_accounts a on a.id = t.user_id where t.digest = ?',
      digest,
    )
    return row && { id: String(row.id), username: row.name }
  }

  findAccount(name: string): { readonly id: Id; readonly kind: 'user' | 'organization' } | undefined {
    const row = this.#session.first<{ id: number; kind: 'user' | 'organization' }>(
      'select id, kind from host_accounts where folded_name = ?',
      normalizeName(name),
    )
    return row && { id: String(row.id), kind: row.kind }
  }

  findRepository(owner: string, name: string): { readonly id: Id } | undefined {
    const row = this.#session.first<{ id: number }>(
      `select r.id from host_accounts a join host_repositories r on r.owner_id = a.id
       where a.folded_name = ? and r.folded_name = ?`,
      normalizeName(owner),
      normalizeName(name),
    )
    return row && { id: String(row.id) }
  }

  findIssue(repositoryId: Id, index: number): IssueRef | undefined {
    const row = this.#session.first<{ id: number; kind: PinKind }>(
      'select id, kind from host_issues where repository_id = ? and issue_index = ?',
      Number(repositoryId),
      index,
    )
    return row && { id: String(row.id), repositoryId, kind: row.kind }
  }

  isSiteAdmin(userId: Id): boolean {
    return this.#session.has('select id from host_accounts where id = ? and is_site_admin = 1', Number(userId))
  }

  isMember(organizationId: Id, userId: Id): boolean {
    return this.#membership(organizationId, userId) !== undefined
  }

  organizationAccess(organizationId: Id, userId: Id | undefined): OrganizationAccess | undefined {
    const row = this.#session.first<{ visibility: FixtureVisibility }>(
      `select visibility from host_accounts where id = ? and kind = 'organization'`,
      Number(organizationId),
    )
    return row && { visibility: row.visibility, membership: this.#membership(organizationId, userId) }
  }

  repositoryAccess(repositoryId: Id, userId: Id | undefined): RepositoryAccess | undefined {
    const row = this.#session.first<{ is_private: number; owner_id: number; visibility: FixtureVisibility }>(
      `select r.is_private, r.owner_id, a.visibility from host_repositories r
       join host_accounts a on a.id = r.owner_id where r.id = ?`,
      Number(repositoryId),
    )
    if (row === undefined) return undefined

    const ownerId = String(row.owner_id)
    return {
      isPrivate: row.is_private === 1,
      ownerVisibility: row.visibility,
      isOwner: ownerId === userId,
      membership: this.#membership(ownerId, userId),
      collaboration: this.#collaboration(repositoryId, userId),
    }
  }

  accounts(ids: readonly Id[]): readonly (Account | undefined)[] {
    return ids.map((id) => {
      const row = this.#session.first<AccountRow>(
        `select ${ACCOUNT_COLUMNS} from host_accounts where id = ?`,
        Number(id),
      )
      return row && accountOf(row)
    })
  }

  issues(ids: readonly Id[]): readonly (IssueDetails | undefined)[] {
    return ids.map((id) => this.#details.read(id))
  }

  #membership(organizationId: Id, userId: Id | undefined): Membership | undefined {
    if (userId === undefined) return undefined

    return this.#session.first<{ role: Membership }>(
      'select role from host_members where organization_id = ? and user_id = ?',
      Number(organizationId),
      Number(userId),
    )?.role
  }

  #collaboration(repositoryId: Id, userId: Id | undefined): CollaboratorRole | undefined {
    if (userId === undefined) return undefined

    return this.#session.first<{ role: CollaboratorRole }>(
      'select role from host_collaborators where repository_id = ? and user_id = ?',
      Number(repositoryId),
      Number(userId),
    )?.role
  }
}

/**
 * Reads an issue together with its related records. SQLite runs in the same process, so several small queries cost
 * little.
 */
export class IssueDetailsReader {
  readonly #session: SqlSession

  constructor(session: SqlSession) {
    this.#session = session
  }

  read(issueId: Id): IssueDetails | undefined {
    const row = this.#session.first<IssueRow>(`select ${ISSUE_COLUMNS} from host_issues where id = ?`, Number(issueId))
    const repository = row && this.#repository(row.repository_id)
    const owner = repository && this.#account(Number(repository.ownerId))
    const poster = row && this.#account(row.poster_id)
    if (row === undefined || repository === undefined || owner === undefined || poster === undefined) return undefined

    const labels = this.#labels(row.id)
    const assignees = this.#assignees(row.id)
    const issue = issueOf(
      row,
      labels.map((label) => label.id),
      assignees.map((assignee) => assignee.id),
    )
    return { issue, repository, owner, poster, labels, assignees, ...this.#open(row.repository_id) }
  }

  #repository(id: number): Repository | undefined {
    const row = this.#session.first<RepositoryRow>(
      `select ${REPOSITORY_COLUMNS} from host_repositories where id = ?`,
      id,
    )
    return row && repositoryOf(row)
  }

  #account(id: number): Account | undefined {
    const row = this.#session.first<AccountRow>(`select ${ACCOUNT_COLUMNS} from host_accounts where id = ?`, id)
    return row && accountOf(row)
  }

  #labels(issueId: number): readonly Label[] {
    const rows = this.#session.all<LabelRow>(
      `select l.id, l.repository_id, l.name, l.color, l.description from host_issue_labels i
       join host_labels l on l.id = i.label_id where i.issue_id = ? order by i.place`,
      issueId,
    )
    return rows.map(labelOf)
  }

  #assignees(issueId: number): readonly Account[] {
    const rows = this.#session.all<AccountRow>(
      `select ${ACCOUNT_COLUMNS} from host_issue_assignees i
       join host_accounts a on a.id = i.user_id where i.issue_id = ? order by i.place`,
      issueId,
    )
    return rows.map(accountOf)
  }

  #open(repositoryId: number): { readonly openIssues: number; readonly openPullRequests: number } {
    const rows = this.#session.all<{ kind: PinKind; many: number }>(
      `select kind, count(*) as many from host_issues where repository_id = ? and state = 'open' group by kind`,
      repositoryId,
    )
    const count = (kind: PinKind) => rows.find((row) => row.kind === kind)?.many ?? 0
    return { openIssues: count('issue'), openPullRequests: count('pullRequest') }
  }
}
