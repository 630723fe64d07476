import type { AccessRequest, Actor, Forge, ForgeEvent, Id, IssueRef, Membership } from 'forgelet'
import { toId } from 'forgelet'
import { normalizeName } from '../standalone/credentials.ts'
import { parseFixture } from '../standalone/fixture/parse-fixture.ts'
import { accountRow, repositoryRow } from '../standalone/host-store/load-fixture.ts'
import type { Standing } from '../standalone/host-store/roles.ts'
import { idOf, placeOf } from '../standalone/host-store/roles.ts'
import type { NewRow, Row, TableName } from '../standalone/host-store/tables.ts'

/** A user of the fixture, to be passed as the caller. */
export interface TestUser {
  readonly id: Id
  readonly username: string
}

/** An organization of a test forge. */
export interface TestOrganization {
  readonly id: Id
  readonly name: string
}

/** A repository of a test forge. */
export interface TestRepository {
  readonly id: Id
  /** The user or organization that owns the repository. */
  readonly ownerId: Id
  readonly name: string
}

/** An in-memory forge with a settable clock. It records its events and the requests to its policy. */
export interface TestForge<User extends Actor = TestUser> {
  readonly forge: Forge<User>
  /** A clock that changes only when it is set or advanced. */
  readonly clock: {
    /** Sets the clock to a time. */
    set(at: Date): void
    /** Advances the clock by a number of milliseconds. */
    advance(milliseconds: number): void
  }
  /** The events committed since the fixture was loaded, in order. */
  readonly events: readonly ForgeEvent[]
  /** The requests that the policy received, in order. */
  readonly asked: readonly AccessRequest[]
  /** Returns your own user of this name; without `users`, that of the fixture. @throws TypeError if there is none */
  user(name: string): User
  /** @throws TypeError if the fixture has no such issue or pull request */
  issue(path: `${string}/${string}#${number}`): IssueRef
  /**
   * Returns the organization with this name. Makes it if it does not exist: public, without owners and members.
   *
   * @throws TypeError if a user has this name; ForgeError `INVALID_INPUT` if it is not a valid name
   */
  organization(name: string): TestOrganization
  /**
   * Returns the repository with this path. Makes it if it does not exist: public and without issues. Makes its owner,
   * as an organization, if that does not exist.
   *
   * @throws ForgeError `INVALID_INPUT` if one of the two is not a valid name
   */
  repository(path: `${string}/${string}`): TestRepository
}

/** Creates the world of a test forge over the rows of its host. `now` is the creation time of what it makes. */
export function testWorld(rows: TestHost, now: () => Date): Pick<TestForge, 'issue' | 'organization' | 'repository'> {
  return {
    issue(path) {
      const [, owner = '', name = '', index = ''] = /^([^/]+)\/([^/#]+)#([1-9][0-9]*)$/.exec(path) ?? []
      if (index === '') throw new TypeError(`"${path}" does not name an issue: write it as owner/repository#index`)

      const repository = rows.findRepository(owner, name)
      if (repository === undefined) throw new TypeError(`the fixture has no repository "${owner}/${name}"`)

      const issue = rows.findIssue(repository.id, Number(index))
      if (issue === undefined) throw new TypeError(`the fixture has no issue "${path}"`)
      return issue
    },

    organization(name) {
      if (typeof name !== 'string') throw new TypeError(`"${String(name)}" is not the name of an organization`)

      parseFixture({ organizations: [{ name }] })
      const account = rows.findAccount(name) ?? { id: made(name), kind: 'organization', name }
      if (account.kind === 'organization') return { id: String(account.id), name: account.name }
      throw new TypeError(`"${name}" is a user, not an organization`)
    },

    repository(path) {
      const [, owner = '', name = ''] = /^([^/]+)\/([^/#]+)$/.exec(path) ?? []
      if (name === '') throw new TypeError(`"${path}" does not name a repository: write it as owner/repository`)

      // Refuses a name before the owner is made.
      parseFixture({ organizations: [{ name: owner }], repositories: [{ owner, name }] })
      const found = rows.findRepository(owner, name)
      if (found !== undefined) return { id: String(found.id), ownerId: String(found.owner_id), name: found.name }

      const ownerId = rows.findAccount(owner)?.id ?? made(owner)
      const id = rows.add('repositories', repositoryRow({ owner, name }, ownerId, now()))
      return { id: String(id), ownerId: String(ownerId), name }
    },
  }

  /** Makes an organization, and returns its id. */
  function made(name: string): number {
    return rows.add('accounts', accountRow('organization', { name }, now()))
  }
}

/** The host of a test forge, in memory: the rows of its fixture, and its users in the places of accounts. */
export class TestHost implements Membership<Actor> {
  readonly #tables = new Map<TableName, object[]>()
  readonly #userIds: ReadonlyMap<string, Id>

  /** @param users - by normalized name. @throws TypeError if two have the same id */
  constructor(users: ReadonlyMap<string, Actor>) {
    this.#userIds = new Map([...users].map(([name, { id }]) => [name, toId(id, `users.${name}.id`)]))
    if (new Set(this.#userIds.values()).size < users.size) throw new TypeError('two users have the same id')
  }

  /** Returns the user of an account: an id that no other user has, if the account is only in the fixture. */
  userOf({ id, folded_name }: Row<'accounts'>): Id {
    return this.#userIds.get(folded_name) ?? `fixture:${id}`
  }

  /** Adds a row with the next id, and returns the id. */
  add<T extends TableName>(table: T, row: NewRow<T>): number {
    const rows = this.#tables.get(table) ?? []
    this.#tables.set(table, rows)
    return rows.push({ id: rows.length + 1, ...row })
  }

  findAccount(name: string): Row<'accounts'> | undefined {
    return this.#of('accounts').find((row) => row.folded_name === normalizeName(name))
  }

  findRepository(owner: string, name: string): Row<'repositories'> | undefined {
    const owned = this.#of('repositories').filter((row) => row.owner_id === this.findAccount(owner)?.id)
    return owned.find((row) => row.folded_name === normalizeName(name))
  }

  findIssue(repositoryId: number, number: number): IssueRef | undefined {
    const issue = this.#of('issues').find((row) => row.repository_id === repositoryId && row.number === number)
    return issue && { id: String(issue.id), repositoryId: String(repositoryId), kind: issue.kind }
  }

  isMember({ organizationId, userId }: { readonly organizationId: Id; readonly userId: Id }): boolean {
    return this.#roleIn(idOf(organizationId), this.#accountOf(userId)) !== null
  }

  standing(request: AccessRequest, actor: Actor | 'anonymous'): Standing {
    const { repositoryId, organizationId } = placeOf(request)
    const caller = actor === 'anonymous' ? undefined : this.#accountOf(toId(actor.id, 'actor.id'))
    const repository = this.#of('repositories').find((row) => row.id === repositoryId)
    const given = this.#of('collaborators').find(
      (row) => row.repository_id === repositoryId && row.user_id === caller?.id,
    )
    const owner = this.#of('accounts').find((row) => row.id === (repository?.owner_id ?? organizationId))
    const account = repository !== undefined || owner?.kind === 'organization' ? owner : undefined
    return {
      id: caller?.id ?? null,
      is_site_admin: caller?.is_site_admin ?? null,
      visibility: account?.visibility ?? null,
      role: account === undefined ? null : this.#roleIn(account.id, caller),
      owner_id: repository?.owner_id ?? null,
      is_private: repository?.is_private ?? null,
      collaboration: given?.role ?? null,
    }
  }

  /** Returns the account of a user; undefined if the fixture has no user of that name. */
  #accountOf(userId: Id): Row<'accounts'> | undefined {
    const [name = ''] = [...this.#userIds].find(([, id]) => id === userId) ?? []
    return this.findAccount(name)
  }

  /** Returns the role of an account in an organization, null if it has none. */
  #roleIn(organizationId: number, account: Row<'accounts'> | undefined): Row<'members'>['role'] | null {
    const members = this.#of('members').filter((row) => row.organization_id === organizationId)
    return members.find((row) => row.user_id === account?.id)?.role ?? null
  }

  #of<T extends TableName>(table: T): readonly Row<T>[]
  #of(table: TableName): readonly object[] {
    return this.#tables.get(table) ?? []
  }
}
