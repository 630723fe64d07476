import type { AccessRequest, AccountRef, Id, IssueRef, MaybePromise } from 'forgelet'
import { ForgeError } from 'forgelet'
import { normalizeName, parseCredentials, tokenDigest } from '../credentials.ts'
import { after } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { StandaloneUser, Standing } from './roles.ts'
import { idOf, placeOf, userIdOf } from './roles.ts'
import type { Sql } from './sql.ts'
import { sql } from './sql.ts'
import type { Row } from './tables.ts'

/** A transaction that is open, whose changes are seen: as in the context of a port. */
interface Within {
  readonly transaction?: unknown
}

type FoundAccount = AccountRef & { readonly id: Id }

/**
 * Resolves the host's names, tokens and memberships. Names are case-insensitive. On SQLite every method answers at once, so
 * that the ports of the forge do too.
 */
export class HostDirectory {
  readonly #database: HostDatabase
  readonly #table: HostDatabase['table']
  readonly #integer: HostDatabase['integer']

  constructor(database: HostDatabase) {
    this.#database = database
    this.#table = database.table
    this.#integer = database.integer
  }

  /**
   * Returns the user that an `Authorization` header identifies, or null for an anonymous request.
   * @throws ForgeError `INVALID_CREDENTIALS` if the token is invalid
   */
  authenticate(header: string | undefined): MaybePromise<StandaloneUser | null> {
    const token = parseCredentials(header)
    if (token === undefined) return null

    const owner = sql<Pick<Row<'accounts'>, 'id' | 'name'>>`select ${this.#integer('accounts.id')}, accounts.name
      from ${this.#table('tokens')} as tokens join ${this.#table('accounts')} as accounts on accounts.id = tokens.user_id
      where tokens.digest = ${tokenDigest(token)}`
    return after(this.#first(owner), (row) => {
      if (row === undefined) throw new ForgeError('INVALID_CREDENTIALS', 'invalid username, password or token')
      return { id: String(row.id), username: row.name }
    })
  }

  findAccount(name: string, { transaction }: Within = {}): MaybePromise<FoundAccount | undefined> {
    const account = sql<Pick<Row<'accounts'>, 'id' | 'kind'>>`select ${this.#integer('id')}, kind
      from ${this.#table('accounts')} where folded_name = ${normalizeName(name)}`
    return after(this.#first(account, transaction), (row) => row && { id: String(row.id), kind: row.kind })
  }

  findRepository(
    owner: string,
    name: string,
    { transaction }: Within = {},
  ): MaybePromise<{ readonly id: Id } | undefined> {
    const repository = sql<Pick<Row<'repositories'>, 'id'>>`select ${this.#integer('repositories.id')}
      from ${this.#table('accounts')} as accounts
      join ${this.#table('repositories')} as repositories on repositories.owner_id = accounts.id
      where accounts.folded_name = ${normalizeName(owner)} and repositories.folded_name = ${normalizeName(name)}`
    return after(this.#first(repository, transaction), (row) => row && { id: String(row.id) })
  }

  findIssue(repositoryId: Id, number: number): MaybePromise<IssueRef | undefined> {
    const issue = sql<Pick<Row<'issues'>, 'id' | 'kind'>>`select ${this.#integer('id')}, kind
      from ${this.#table('issues')} where repository_id = ${idOf(repositoryId)} and number = ${number}`
    return after(this.#first(issue), (row) => row && { id: String(row.id), repositoryId, kind: row.kind })
  }

  /** Owners of an organization are members of it. */
  isMember(
    { organizationId, userId }: { readonly organizationId: Id; readonly userId: Id },
    { transaction }: Within,
  ): MaybePromise<boolean> {
    const member = sql`select role from ${this.#table('members')}
      where organization_id = ${idOf(organizationId)} and user_id = ${idOf(userId)}`
    return after(this.#first(member, transaction), (row) => row !== undefined)
  }

  /** Returns what a caller is to the repository or organization of a request. The owner of the one is the other. */
  standing(request: AccessRequest, actor: StandaloneUser | 'anonymous', transaction?: unknown): MaybePromise<Standing> {
    const userId = userIdOf(actor)
    const { repositoryId, organizationId } = placeOf(request)
    // One row, whatever does not exist: the caller may be a site admin all the same.
    const standing = sql<Standing>`select ${this.#integer('caller.id')}, ${this.#integer('caller.is_site_admin')},
      ${this.#integer('repositories.is_private')}, ${this.#integer('repositories.owner_id')},
      owner.visibility, members.role, collaborators.role as collaboration
      from (select 1 as one) as asked
      left join ${this.#table('accounts')} as caller on caller.id = ${userId}
      left join ${this.#table('repositories')} as repositories on repositories.id = ${repositoryId}
      left join ${this.#table('accounts')} as owner on owner.id = coalesce(repositories.owner_id, ${organizationId})
        and (repositories.id is not null or owner.kind = 'organization')
      left join ${this.#table('members')} as members
        on members.organization_id = owner.id and members.user_id = ${userId}
      left join ${this.#table('collaborators')} as collaborators
        on collaborators.repository_id = repositories.id and collaborators.user_id = ${userId}`
    return after(this.#first(standing, transaction), (row) => {
      if (row === undefined) throw new TypeError('a query of one row returned none')
      return row
    })
  }

  #first<R>(part: Sql<R>, transaction?: unknown): MaybePromise<R | undefined> {
    return after(this.#database.rows(part, transaction), ([row]) => row)
  }
}
