import type { Forge, ForgeOptions, Id, IssueRef, Policy } from '../../index.ts'
import { createForge } from '../../index.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runAsync, wait } from '../../schema/sync-or-async.ts'
import { memoryStorage } from '../../storage/memory.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { normalizeName } from '../host-names.ts'
import type { Standings } from './host-ports.ts'
import { hostPolicy } from './host-ports.ts'
import { insertFixture, seedForge } from './load-fixture.ts'
import type { OrganizationStanding, RepositoryStanding, StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'
import type { RowSink } from './row-writer.ts'
import type { NewRow, NumberedTable, Row, TableName } from './tables.ts'

/** An in-memory host. */
export interface MemoryHost {
  readonly forge: Forge<StandaloneUser>
  readonly rows: MemoryRows
}

/** The options of an in-memory host. */
export interface MemoryHostOptions
  extends Pick<
    ForgeOptions<StandaloneUser, undefined>,
    'beforeCommit' | 'clock' | 'issues' | 'limits' | 'logger' | 'signingKey'
  > {
  /** Replaces or wraps Gitea's rules. */
  readonly policy?: ((ordinary: Policy<StandaloneUser>) => Policy<StandaloneUser>) | undefined
}

/**
 * Creates an in-memory host and loads a fixture into it. It needs no file and no native dependency, and its data ends with
 * the process.
 *
 * @param now - the creation time where the fixture names none
 */
export async function openMemoryHost(
  fixture: Fixture,
  now: Date,
  options: MemoryHostOptions = {},
): Promise<MemoryHost> {
  const { policy = (ordinary) => ordinary, beforeCommit, ...others } = options
  let isLoaded = false
  const rows = new MemoryRows()
  const forge = createForge<StandaloneUser, undefined>({
    ...others,
    storage: memoryStorage(),
    policy: policy(hostPolicy(rows)),
    membership: { isMember: ({ organizationId, userId }) => rows.roleIn(idOf(organizationId), idOf(userId)) !== null },
    // The fixture is not a change that the host makes.
    beforeCommit: beforeCommit && ((events, transaction) => (isLoaded ? beforeCommit(events, transaction) : undefined)),
  })

  const seed = await runAsync(insertFixture(fixture, now, rows))
  await runAsync(seedForge(forge, seed))
  isLoaded = true
  return { forge, rows }
}

/** The rows of an in-memory host. */
export class MemoryRows implements RowSink, Standings {
  readonly #tables = new Map<TableName, object[]>()

  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<void> {
    for (const row of rows) this.#rowsOf(table).push(row)
    return wait(undefined)
  }

  insertNumbered<T extends NumberedTable>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<readonly number[]> {
    return wait(rows.map((row) => this.add(table, row)))
  }

  /** Adds a row with the next id, and returns the id. */
  add<T extends NumberedTable>(table: T, row: NewRow<T>): number {
    return this.#rowsOf(table).push({ id: this.#rowsOf(table).length + 1, ...row })
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
    const account = this.#account(idOf(organizationId))
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
      ...this.#standing(this.#account(repository?.owner_id), userId),
    }
  }

  #standing(account: Row<'accounts'> | undefined, userId: number): OrganizationStanding {
    return {
      is_site_admin: this.#account(userId)?.is_site_admin ?? null,
      visibility: account?.visibility ?? null,
      role: account === undefined ? null : this.roleIn(account.id, userId),
    }
  }

  #account(id: number | undefined): Row<'accounts'> | undefined {
    return this.#of('accounts').find((row) => row.id === id)
  }

  #of<T extends TableName>(table: T): readonly Row<T>[]
  #of(table: TableName): readonly object[] {
    return this.#rowsOf(table)
  }

  #rowsOf(table: TableName): object[] {
    const rows = this.#tables.get(table) ?? []
    this.#tables.set(table, rows)
    return rows
  }
}
