import type { Id, IssueRef } from '../index.ts'
import { parseFixture } from '../standalone/fixture/parse-fixture.ts'
import type { Repository, Seed } from '../standalone/fixture/seed.ts'
import { seedFromFixture } from '../standalone/fixture/seed-from-fixture.ts'
import type { MemoryHostStore } from '../standalone/host-store/memory-host-store.ts'

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

/** Creates the world of a test forge over its store. `now` is the creation time of what it makes. */
export function testWorld(store: MemoryHostStore, now: () => Date): TestWorld {
  return {
    user(name) {
      const account = store.findAccount(name)
      if (account?.kind === 'user') return { id: account.id, username: account.name }
      throw new TypeError(`the fixture has no user "${name}"`)
    },

    issue(path) {
      const [, owner = '', name = '', index = ''] = /^([^/]+)\/([^/#]+)#([1-9][0-9]*)$/.exec(path) ?? []
      if (index === '') throw new TypeError(`"${path}" does not name an issue: write it as owner/repository#index`)

      const repository = store.findRepository(owner, name)
      if (repository === undefined) throw new TypeError(`the fixture has no repository "${owner}/${name}"`)

      const issue = store.findIssue(repository.id, Number(index))
      if (issue === undefined) throw new TypeError(`the fixture has no issue "${path}"`)
      return issue
    },

    organization(name) {
      if (typeof name !== 'string') throw new TypeError(`"${String(name)}" is not the name of an organization`)

      const account = store.findAccount(name) ?? store.createAccount(only(seedOf(name, []).accounts))
      if (account.kind === 'organization') return { id: account.id, name: account.name }
      throw new TypeError(`"${name}" is a user, not an organization`)
    },

    repository(path) {
      const [, owner = '', name = ''] = /^([^/]+)\/([^/#]+)$/.exec(path) ?? []
      if (name === '') throw new TypeError(`"${path}" does not name a repository: write it as owner/repository`)

      const found = store.findRepository(owner, name) ?? createRepository(owner, name)
      return { id: found.id, ownerId: found.ownerId, name: found.name }
    },
  }

  function createRepository(owner: string, name: string): Repository {
    const { accounts, repositories } = seedOf(owner, [name]) // refuses a name before the owner is made
    const { id: ownerId } = store.findAccount(owner) ?? store.createAccount(only(accounts))
    return store.createRepository({ ...only(repositories), ownerId })
  }

  function seedOf(owner: string, names: readonly string[]): Seed {
    const repositories = names.map((name) => ({ owner, name }))
    return seedFromFixture(parseFixture({ organizations: [{ name: owner }], repositories }), now())
  }
}

function only<T>([item]: readonly T[]): T {
  if (item === undefined) throw new TypeError('the fixture is empty')
  return item
}
