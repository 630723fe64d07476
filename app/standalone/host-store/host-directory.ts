import type { Id, IssueRef, MaybePromise } from 'forgelet'
import { sql } from 'kysely'
import { after } from '../../../src/schema/sync-or-async.ts'
import type { QueryValues } from '../../../src/storage/sql/query.ts'
import { defineQuery } from '../../../src/storage/sql/query.ts'
import { normalizeName } from '../host-names.ts'
import type { HostDatabase } from './host-database.ts'
import type { OrganizationStanding, RepositoryStanding, StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'
import type { HostContext } from './tables.ts'

/**
 * Resolves the host's names, tokens and memberships. Names are case-insensitive. On SQLite every method answers at once, so
 * that the ports of the forge do too.
 */
export class HostDirectory<Tx = unknown> {
  readonly #database: HostDatabase<Tx>
  readonly #queries: ReturnType<typeof directoryQueries>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
    this.#queries = directoryQueries(database.context)
  }

  /** @param digest - the SHA-256 of the token in hexadecimal */
  findUserByToken(digest: string): MaybePromise<StandaloneUser | undefined> {
    const rows = this.#database.rows(this.#queries.tokenOwner({ digest }))
    return after(rows, ([row]) => row && { id: String(row.id), username: row.name })
  }

  findAccount(name: string): MaybePromise<{ readonly id: Id; readonly kind: 'user' | 'organization' } | undefined> {
    const rows = this.#database.rows(this.#queries.account({ name: normalizeName(name) }))
    return after(rows, ([row]) => row && { id: String(row.id), kind: row.kind })
  }

  findRepository(owner: string, name: string): MaybePromise<{ readonly id: Id } | undefined> {
    const asked = { owner: normalizeName(owner), name: normalizeName(name) }
    return after(this.#database.rows(this.#queries.repository(asked)), ([row]) => row && { id: String(row.id) })
  }

  findIssue(repositoryId: Id, number: number): MaybePromise<IssueRef | undefined> {
    const rows = this.#database.rows(this.#queries.issue({ repositoryId: idOf(repositoryId), number }))
    return after(rows, ([row]) => row && { id: String(row.id), repositoryId, kind: row.kind })
  }

  /**
   * Owners of an organization are members of it.
   *
   * @param transaction - a transaction of the host that is open; its changes are seen
   */
  isMember(organizationId: Id, userId: Id, transaction?: Tx | undefined): MaybePromise<boolean> {
    const statement = this.#queries.member({ organizationId: idOf(organizationId), userId: idOf(userId) })
    return after(this.#database.rows(statement, transaction), (rows) => rows.length > 0)
  }

  organizationStanding(organizationId: Id, userId: number): MaybePromise<OrganizationStanding> {
    const statement = this.#queries.organizationStanding({ organizationId: idOf(organizationId), userId })
    return after(this.#database.rows(statement), ([row]) => row ?? NOTHING)
  }

  repositoryStanding(repositoryId: Id, userId: number, transaction?: Tx | undefined): MaybePromise<RepositoryStanding> {
    const statement = this.#queries.repositoryStanding({ repositoryId: idOf(repositoryId), userId })
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

/** One row, whatever does not exist: the caller may be a site admin all the same. */
const ASKED = sql<{ readonly one: number }>`(select 1 as one)`.as('asked')

interface OfUser {
  readonly userId: number
}

function directoryQueries({ build, columns }: HostContext) {
  return {
    tokenOwner: defineQuery((given: QueryValues<{ readonly digest: string }>) =>
      build
        .selectFrom('tokens')
        .innerJoin('accounts', 'accounts.id', 'tokens.user_id')
        .select([columns.number('accounts.id').as('id'), 'accounts.name'])
        .where('tokens.digest', '=', given('digest')),
    ),
    account: defineQuery((given: QueryValues<{ readonly name: string }>) =>
      build
        .selectFrom('accounts')
        .select([columns.number('id').as('id'), 'kind'])
        .where('folded_name', '=', given('name')),
    ),
    repository: defineQuery((given: QueryValues<{ readonly owner: string; readonly name: string }>) =>
      build
        .selectFrom('accounts')
        .innerJoin('repositories', 'repositories.owner_id', 'accounts.id')
        .select(columns.number('repositories.id').as('id'))
        .where('accounts.folded_name', '=', given('owner'))
        .where('repositories.folded_name', '=', given('name')),
    ),
    issue: defineQuery((given: QueryValues<{ readonly repositoryId: number; readonly number: number }>) =>
      build
        .selectFrom('issues')
        .select([columns.number('id').as('id'), 'kind'])
        .where('repository_id', '=', given('repositoryId'))
        .where('number', '=', given('number')),
    ),
    member: defineQuery((given: QueryValues<OfUser & { readonly organizationId: number }>) =>
      build
        .selectFrom('members')
        .select('role')
        .where('organization_id', '=', given('organizationId'))
        .where('user_id', '=', given('userId')),
    ),
    organizationStanding: defineQuery((given: QueryValues<OfUser & { readonly organizationId: number }>) =>
      build
        .selectFrom(ASKED)
        .leftJoin('accounts as caller', (join) => join.on('caller.id', '=', given('userId')))
        .leftJoin('accounts as organization', (join) =>
          join
            .on('organization.id', '=', given('organizationId'))
            .on('organization.kind', '=', sql.lit('organization')),
        )
        .leftJoin('members', (join) =>
          join.onRef('members.organization_id', '=', 'organization.id').on('members.user_id', '=', given('userId')),
        )
        .select([
          columns.number<number | null>('caller.is_site_admin').as('is_site_admin'),
          'organization.visibility',
          'members.role',
        ]),
    ),
    repositoryStanding: defineQuery((given: QueryValues<OfUser & { readonly repositoryId: number }>) =>
      build
        .selectFrom(ASKED)
        .leftJoin('accounts as caller', (join) => join.on('caller.id', '=', given('userId')))
        .leftJoin('repositories', (join) => join.on('repositories.id', '=', given('repositoryId')))
        .leftJoin('accounts as owner', 'owner.id', 'repositories.owner_id')
        .leftJoin('members', (join) =>
          join.onRef('members.organization_id', '=', 'owner.id').on('members.user_id', '=', given('userId')),
        )
        .leftJoin('collaborators', (join) =>
          join
            .onRef('collaborators.repository_id', '=', 'repositories.id')
            .on('collaborators.user_id', '=', given('userId')),
        )
        .select([
          columns.number<number | null>('caller.is_site_admin').as('is_site_admin'),
          columns.number<number | null>('repositories.is_private').as('is_private'),
          columns.number<number | null>('owner.id').as('owner_id'),
          'owner.visibility',
          'members.role',
          'collaborators.role as collaboration',
        ]),
    ),
  }
}
