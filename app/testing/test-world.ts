import type { Id, IssueRef } from 'forgelet'
import { parseFixture } from '../standalone/fixture/parse-fixture.ts'
import { accountRow, repositoryRow } from '../standalone/host-store/load-fixture.ts'
import type { MemoryRows } from '../standalone/host-store/memory-host.ts'

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

/** Finds the users, organizations, repositories and issues of a test forge by name, and makes what is missing. */
export interface TestWorld {
  user(name: string): TestUser
  issue(path: string): IssueRef
  organization(name: string): TestOrganization
  repository(path: string): TestRepository
}

/** Creates the world of a test forge over the rows of its host. `now` is the creation time of what it makes. */
export function testWorld(rows: MemoryRows, now: () => Date): TestWorld {
  return {
    user(name) {
      const account = rows.findAccount(name)
      if (account?.kind === 'user') return { id: String(account.id), username: account.name }
      throw new TypeError(`the fixture has no user "${name}"`)
    },

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
