import type { Id, IssueRef, MaybePromise } from 'forgelet'
import { normalizeName } from '../host-names.ts'
import { after } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { OrganizationStanding, RepositoryStanding, StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'
import { raw, sql } from './sql.ts'
import type { HostContext, Row } from './tables.ts'

/**
 * Resolves the host's names, tokens and memberships. Names are case-insensitive. On SQLite every method answers at once, so
 * that the ports of the forge do too.
 */
export class HostDirectory<Tx = unknown> {
  readonly #database: HostDatabase<Tx>
  readonly #statements: ReturnType<typeof directoryStatements>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#statements = directoryStatements(database.context)
  }

  /** @param digest - the SHA-256 of the token in hexadecimal */
  findUserByToken(digest: string): MaybePromise<StandaloneUser | undefined> {
    const rows = this.#database.rows(this.#statements.tokenOwner(digest))
    return after(rows, ([row]) => row && { id: String(row.id), username: row.name })
  }

  findAccount(name: string): MaybePromise<{ readonly id: Id; readonly kind: 'user' | 'organization' } | undefined> {
    const rows = this.#database.rows(this.#statements.account(normalizeName(name)))
    return after(rows, ([row]) => row && { id: String(row.id), kind: row.kind })
  }

  findRepository(owner: string, name: string): MaybePromise<{ readonly id: Id } | undefined> {
    const rows = this.#database.rows(this.#statements.repository(normalizeName(owner), normalizeName(name)))
    return after(rows, ([row]) => row && { id: String(row.id) })
  }

  findIssue(repositoryId: Id, number: number): MaybePromise<IssueRef | undefined> {
    const rows = this.#database.rows(this.#statements.issue(idOf(repositoryId), number))
    return after(rows, ([row]) => row && { id: String(row.id), repositoryId, kind: row.kind })
  }

  /**
   * Owners of an organization are members of it.
   *
   * @param transaction - a transaction of the host that is open; its changes are seen
   */
  isMember(organizationId: Id, userId: Id, transaction?: Tx | undefined): MaybePromise<boolean> {
    const statement = this.#statements.member(idOf(organizationId), idOf(userId))
    return after(this.#database.rows(statement, transaction), (rows) => rows.length > 0)
  }

  organizationStanding(organizationId: Id, userId: number): MaybePromise<OrganizationStanding> {
    const statement = this.#statements.organizationStanding(idOf(organizationId), userId)
    return after(this.#database.rows(statement), ([row]) => row ?? NOTHING)
  }

  repositoryStanding(repositoryId: Id, userId: number, transaction?: Tx | undefined): MaybePromise<RepositoryStanding> {
    const statement = this.#statements.repositoryStanding(idOf(repositoryId), userId)
    return after(this.#database.rows(statement, transaction), ([row]) => row ?? NOTHING)
  }
}

const NOTHING: RepositoryStanding = {
  is_site_admin: null,
  visibility: null,
  role: null,
  owner_id: null,
  is_private: null,
  collaboration: null,
}

function directoryStatements({ forms, tables }: HostContext) {
  const { accounts, collaborators, issues, members, repositories, tokens } = tables
  const number = (column: string) => forms.number(raw(column))
  /** One row, whatever does not exist: the caller may be a site admin all the same. */
  const caller = (userId: number) =>
    sql`(select 1 as one) as asked left join ${accounts} as caller on caller.id = ${userId}`
  return {
    tokenOwner: (digest: string) =>
      sql<Pick<Row<'accounts'>, 'id' | 'name'>>`select ${number('accounts.id')} as id, accounts.name
        from ${tokens} as tokens join ${accounts} as accounts on accounts.id = tokens.user_id where tokens.digest = ${digest}`,
    account: (name: string) =>
      sql<
        Pick<Row<'accounts'>, 'id' | 'kind'>
      >`select ${number('id')} as id, kind from ${accounts} where folded_name = ${name}`,
    repository: (owner: string, name: string) =>
      sql<Pick<Row<'repositories'>, 'id'>>`select ${number('repositories.id')} as id from ${accounts} as accounts
        join ${repositories} as repositories on repositories.owner_id = accounts.id
        where accounts.folded_name = ${owner} and repositories.folded_name = ${name}`,
    issue: (repositoryId: number, index: number) =>
      sql<Pick<Row<'issues'>, 'id' | 'kind'>>`select ${number('id')} as id, kind from ${issues}
        where repository_id = ${repositoryId} and number = ${index}`,
    member: (organizationId: number, userId: number) =>
      sql<Pick<Row<'members'>, 'role'>>`select role from ${members}
        where organization_id = ${organizationId} and user_id = ${userId}`,
    organizationStanding: (organizationId: number, userId: number) =>
      sql<OrganizationStanding>`select ${number('caller.is_site_admin')} as is_site_admin, organization.visibility, members.role
        from ${caller(userId)}
        left join ${accounts} as organization on organization.id = ${organizationId} and organization.kind = 'organization'
        left join ${members} as members on members.organization_id = organization.id and members.user_id = ${userId}`,
    repositoryStanding: (repositoryId: number, userId: number) =>
      sql<RepositoryStanding>`select ${number('caller.is_site_admin')} as is_site_admin,
        ${number('repositories.is_private')} as is_private, ${number('owner.id')} as owner_id,
        owner.visibility, members.role, collaborators.role as collaboration
        from ${caller(userId)}
        left join ${repositories} as repositories on repositories.id = ${repositoryId}
        left join ${accounts} as owner on owner.id = repositories.owner_id
        left join ${members} as members on members.organization_id = owner.id and members.user_id = ${userId}
        left join ${collaborators} as collaborators
          on collaborators.repository_id = repositories.id and collaborators.user_id = ${userId}`,
  }
}
