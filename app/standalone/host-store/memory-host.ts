import type { Actor, Forge, ForgeOptions, Id, IssueRef, Policy } from 'forgelet'
import { createForge, toId } from 'forgelet'
import { memoryStorage } from 'forgelet/storage/memory'
import type { Fixture } from '../fixture/fixture.ts'
import { normalizeName } from '../host-names.ts'
import type { Steps } from '../steps.ts'
import { run, wait } from '../steps.ts'
import type { Standings } from './host-ports.ts'
import { hostPolicy } from './host-ports.ts'
import { insertFixture } from './load-fixture.ts'
import type { OrganizationStanding, RepositoryStanding, StandaloneUser } from './roles.ts'
import { idOf, NO_ID } from './roles.ts'
import type { RowSink } from './row-writer.ts'
import type { NewRow, Row, TableName } from './tables.ts'

/** An in-memory host. */
export interface MemoryHost<A extends Actor> {
  readonly forge: Forge<A>
  readonly rows: MemoryRows
}

/** The options of an in-memory host. */
export interface MemoryHostOptions<A extends Actor>
  extends Pick<ForgeOptions<A, undefined>, 'beforeCommit' | 'clock' | 'issues' | 'limits' | 'logger' | 'signingKey'> {
  /** Replaces or wraps Gitea's rules. */
  readonly policy?: ((ordinary: Policy<A>) => Policy<A>) | undefined
  /** Users who take the places of those in the fixture, by normalized name. Default: those of the fixture. */
  readonly users?: ReadonlyMap<string, A> | undefined
}

/**
 * Creates an in-memory host and loads a fixture into it. It needs no file and no native dependency, and its data ends with
 * the process.
 *
 * @param now - the creation time where the fixture names none
 */
export async function openMemoryHost<A extends Actor>(
  fixture: Fixture,
  now: Date,
  options: MemoryHostOptions<A> = {},
): Promise<MemoryHost<A>> {
  const { policy = (ordinary) => ordinary, beforeCommit, users, ...others } = options
  let isLoaded = false
  const rows = new MemoryRows()
  const standIns = new StandIns(rows, users)
  const forge = createForge<A, undefined>({
    ...others,
    storage: memoryStorage(),
    policy: policy(policyOfStandIns(hostPolicy(rows), standIns)),
    membership: {
      isMember: ({ organizationId, userId }) => rows.roleIn(idOf(organizationId), standIns.accountOf(userId)) !== null,
    },
    // The fixture is not a change that the host makes.
    beforeCommit: beforeCommit && ((events, transaction) => (isLoaded ? beforeCommit(events, transaction) : undefined)),
  })

  await run(insertFixture(fixture, { now, sink: rows, forge, userOf: (account) => standIns.userOf(account) }))
  isLoaded = true
  return { forge, rows }
}

/** Which account of the fixture is whose. */
class StandIns {
  readonly #rows: MemoryRows
  readonly #userIds: ReadonlyMap<string, Id> | undefined

  /** @throws TypeError if two users have the same id */
  constructor(rows: MemoryRows, users: ReadonlyMap<string, Actor> | undefined) {
    this.#rows = rows
    if (users === undefined) return

    this.#userIds = new Map([...users].map(([name, { id }]) => [name, toId(id, `users.${name}.id`)]))
    if (new Set(this.#userIds.values()).size < users.size) throw new TypeError('two users have the same id')
  }

  /** Returns the account of a user; the id of nothing if the fixture has no user of that name. */
  accountOf(userId: Id): number {
    if (this.#userIds === undefined) return idOf(userId)
    const [name = ''] = [...this.#userIds].find(([, id]) => id === userId) ?? []
    return this.#rows.findAccount(name)?.id ?? NO_ID
  }

  /** Returns the user of an account: an id that no other user has, if the account is only in the fixture. */
  userOf({ id, folded_name }: Row<'accounts'>): Id {
    return this.#userIds === undefined ? String(id) : (this.#userIds.get(folded_name) ?? `fixture:${id}`)
  }
}

function policyOfStandIns<A extends Actor>(policy: Policy<StandaloneUser>, standIns: StandIns): Policy<A> {
  return {
    authorize(request, { actor, transaction, signal }) {
      if (actor === 'anonymous') return policy.authorize(request, { actor, transaction, signal })
      const id = String(standIns.accountOf(toId(actor.id, 'actor.id')))
      return policy.authorize(request, { actor: { id, username: '' }, transaction, signal })
    },
  }
}

/** The rows of an in-memory host. */
export class MemoryRows implements RowSink, Standings {
  readonly #tables = new Map<TableName, object[]>()

  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): Steps<readonly number[]> {
    return wait(rows.map((row) => this.add(table, row)))
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

  /** Returns the role of a user in an organization, null if it has none. */
  roleIn(organizationId: number, userId: number): Row<'members'>['role'] | null {
    const found = this.#of('members').find((row) => row.organization_id === organizationId && row.user_id === userId)
    return found?.role ?? null
  }

  organizationStanding(organizationId: Id, userId: number): OrganizationStanding {
    const account = this.accountWith(idOf(organizationId))
    return this.#standing(account?.kind === 'organization' ? account : undefined, userId)
  }

  repositoryStanding(repositoryId: Id, userId: number): RepositoryStanding {
    const repository = this.#of('repositories').find((row) => row.id === idOf(repositoryId))
    const given = this.#of('collaborators').find(
      (row) => row.repository_id === repository?.id && row.user_id === userId,
    )
    return {
      owner_id: repository?.owner_id ?? null,
      is_private: repository?.is_private ?? null,
      collaboration: given?.role ?? null,
      ...this.#standing(this.accountWith(repository?.owner_id), userId),
    }
  }

  #standing(account: Row<'accounts'> | undefined, userId: number): OrganizationStanding {
    return {
      is_site_admin: this.accountWith(userId)?.is_site_admin ?? null,
      visibility: account?.visibility ?? null,
      role: account === undefined ? null : this.roleIn(account.id, userId),
    }
  }

  accountWith(id: number | undefined): Row<'accounts'> | undefined {
    return this.#of('accounts').find((row) => row.id === id)
  }

  #of<T extends TableName>(table: T): readonly Row<T>[]
  #of(table: TableName): readonly object[] {
    return this.#tables.get(table) ?? []
  }
}
