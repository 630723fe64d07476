import type { Id, IssueRef } from '../index.ts'
import { parseFixture } from '../standalone/fixture/parse-fixture.ts'
import type { Account, Repository } from '../standalone/fixture/seed.ts'
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
export class TestWorld {
  readonly #store: MemoryHostStore
  readonly #now: () => Date

  constructor(store: MemoryHostStore, now: () => Date) {
    this.#store = store
    this.#now = now
  }

  user(name: string): TestUser {
    const account = this.#store.findAccount(name)
    if (account?.kind === 'user') return { id: account.id, username: account.name }
    throw new TypeError(`the fixture has no user "${name}"`)
  }

  issue(path: string): IssueRef {
    const [, owner = '', name = '', index = ''] = /^([^/]+)\/([^/#]+)#([1-9][0-9]*)$/.exec(path) ?? []
    if (index === '') throw new TypeError(`"${path}" does not name an issue: write it as owner/repository#index`)

    const repository = this.#store.findRepository(owner, name)
    if (repository === undefined) throw new TypeError(`the fixture has no repository "${owner}/${name}"`)

    const issue = this.#store.findIssue(repository.id, Number(index))
    if (issue === undefined) throw new TypeError(`the fixture has no issue "${path}"`)
    return issue
  }

  organization(name: string): TestOrganization {
    if (typeof name !== 'string') throw new TypeError(`"${String(name)}" is not the name of an organization`)

    const account = this.#store.findAccount(name) ?? this.#store.createAccount(this.#newOrganization(name))
    if (account.kind === 'organization') return { id: account.id, name: account.name }
    throw new TypeError(`"${name}" is a user, not an organization`)
  }

  repository(path: string): TestRepository {
    const [, owner = '', name = ''] = /^([^/]+)\/([^/#]+)$/.exec(path) ?? []
    if (name === '') throw new TypeError(`"${path}" does not name a repository: write it as owner/repository`)

    const found = this.#store.findRepository(owner, name) ?? this.#createRepository(owner, name)
    return { id: found.id, ownerId: found.ownerId, name: found.name }
  }

  #createRepository(owner: string, name: string): Repository {
    const repository = this.#newRepository(owner, name) // refuses a name before the owner is made
    const { id: ownerId } = this.#store.findAccount(owner) ?? this.organization(owner)
    return this.#store.createRepository({ ...repository, ownerId })
  }

  #newOrganization(name: string): Account {
    const { accounts } = seedFromFixture(parseFixture({ organizations: [{ name }] }), this.#now())
    return only(accounts)
  }

  #newRepository(owner: string, name: string): Repository {
    const fixture = { organizations: [{ name: owner }], repositories: [{ owner, name }] }
    return only(seedFromFixture(parseFixture(fixture), this.#now()).repositories)
  }
}

function only<T>([item]: readonly T[]): T {
  if (item === undefined) throw new TypeError('the fixture is empty')
  return item
}
