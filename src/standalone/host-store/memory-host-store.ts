import type { Id, IssueRef } from '../../index.ts'
import type { Account, Collaborator, Issue, Label, Member, Repository, Seed } from '../fixture/seed.ts'
import { normalizeName } from '../host-names.ts'
import type { HostStore, IssueDetails, OrganizationAccess, RepositoryAccess, Standing } from './host-store.ts'

/** An in-memory store for tests and temporary hosts. It needs no file and no native dependency. */
export class MemoryHostStore implements HostStore {
  readonly #accounts = new Map<Id, Account>()
  readonly #accountNames = new Map<string, Account>()
  readonly #tokens = new Map<string, Id>()
  readonly #members = new Map<string, Member['role']>()
  readonly #repositories = new Map<Id, Repository>()
  readonly #repositoryNames = new Map<string, Repository>()
  readonly #collaborators = new Map<string, Collaborator['role']>()
  readonly #labels = new Map<Id, Label>()
  readonly #issues = new Map<Id, Issue>()
  readonly #issueIndexes = new Map<string, Issue>()

  /**
   * Loads the accounts and records of a seed. The store must be empty. The parts that belong to the forge (badges,
   * blocks, pins) are skipped.
   */
  load(seed: Seed): void {
    if (this.#accounts.size > 0) throw new TypeError('the store is not empty')

    for (const account of seed.accounts) this.#addAccount(account)
    for (const token of seed.tokens) this.#tokens.set(token.digest, token.userId)
    for (const member of seed.members) this.#members.set(pair(member.organizationId, member.userId), member.role)
    for (const repository of seed.repositories) this.#addRepository(repository)
    for (const { repositoryId, userId, role } of seed.collaborators) {
      this.#collaborators.set(pair(repositoryId, userId), role)
    }
    for (const label of seed.labels) this.#labels.set(label.id, label)
    for (const issue of seed.issues) this.#addIssue(issue)
  }

  /** Adds an account with the next id, and returns it. */
  createAccount(account: Omit<Account, 'id'>): Account {
    const created = { ...account, id: String(this.#accounts.size + 1) }
    this.#addAccount(created)
    return created
  }

  /** Adds a repository with the next id, and returns it. */
  createRepository(repository: Omit<Repository, 'id'>): Repository {
    const created = { ...repository, id: String(this.#repositories.size + 1) }
    this.#addRepository(created)
    return created
  }

  findUserByToken(digest: string): { readonly id: Id; readonly username: string } | undefined {
    const user = this.#accounts.get(this.#tokens.get(digest) ?? '')
    return user && { id: user.id, username: user.name }
  }

  findAccount(name: string): Account | undefined {
    return this.#accountNames.get(normalizeName(name))
  }

  findRepository(owner: string, name: string): Repository | undefined {
    const account = this.findAccount(owner)
    return account && this.#repositoryNames.get(pair(account.id, normalizeName(name)))
  }

  findIssue(repositoryId: Id, index: number): IssueRef | undefined {
    return this.#issueIndexes.get(pair(repositoryId, String(index)))
  }

  isSiteAdmin(userId: Id): boolean {
    return this.#accounts.get(userId)?.siteAdmin ?? false
  }

  isMember(organizationId: Id, userId: Id): boolean {
    return this.#members.has(pair(organizationId, userId))
  }

  organizationStanding(organizationId: Id, userId: Id | undefined): Standing<OrganizationAccess> {
    return { isSiteAdmin: this.#isSiteAdmin(userId), access: this.#organizationAccess(organizationId, userId) }
  }

  repositoryStanding(repositoryId: Id, userId: Id | undefined): Standing<RepositoryAccess> {
    return { isSiteAdmin: this.#isSiteAdmin(userId), access: this.#repositoryAccess(repositoryId, userId) }
  }

  accounts(ids: readonly Id[]): readonly (Account | undefined)[] {
    return ids.map((id) => this.#accounts.get(id))
  }

  issues(ids: readonly Id[], viewerId?: Id | undefined): readonly (IssueDetails | undefined)[] {
    const viewer = this.#accounts.get(viewerId ?? '')
    return ids.map((id) => {
      const issue = this.#issues.get(id)
      const details = issue && this.#details(issue)
      return details && { ...details, viewer }
    })
  }

  #isSiteAdmin(userId: Id | undefined): boolean {
    return userId !== undefined && this.isSiteAdmin(userId)
  }

  #organizationAccess(organizationId: Id, userId: Id | undefined): OrganizationAccess | undefined {
    const organization = this.#accounts.get(organizationId)
    if (organization?.kind !== 'organization') return undefined

    return { visibility: organization.visibility, membership: this.#membership(organizationId, userId) }
  }

  #repositoryAccess(repositoryId: Id, userId: Id | undefined): RepositoryAccess | undefined {
    const repository = this.#repositories.get(repositoryId)
    const owner = this.#accounts.get(repository?.ownerId ?? '')
    if (repository === undefined || owner === undefined) return undefined

    return {
      isPrivate: repository.isPrivate,
      ownerVisibility: owner.visibility,
      isOwner: owner.id === userId,
      membership: this.#membership(owner.id, userId),
      collaboration: userId === undefined ? undefined : this.#collaborators.get(pair(repositoryId, userId)),
    }
  }

  #details(issue: Issue): IssueDetails | undefined {
    const repository = this.#repositories.get(issue.repositoryId)
    const owner = this.#accounts.get(repository?.ownerId ?? '')
    const poster = this.#accounts.get(issue.posterId)
    if (repository === undefined || owner === undefined || poster === undefined) return undefined

    const labels = issue.labelIds.flatMap((id) => this.#labels.get(id) ?? [])
    const assignees = issue.assigneeIds.flatMap((id) => this.#accounts.get(id) ?? [])
    const open = [...this.#issues.values()].filter(
      (each) => each.repositoryId === repository.id && each.state === 'open',
    )
    const openIssues = open.filter((each) => each.kind === 'issue').length
    const openPullRequests = open.length - openIssues
    return { issue, repository, owner, poster, labels, assignees, openIssues, openPullRequests }
  }

  #membership(organizationId: Id, userId: Id | undefined): Member['role'] | undefined {
    return userId === undefined ? undefined : this.#members.get(pair(organizationId, userId))
  }

  #addAccount(account: Account): void {
    this.#accounts.set(account.id, account)
    this.#accountNames.set(normalizeName(account.name), account)
  }

  #addRepository(repository: Repository): void {
    this.#repositories.set(repository.id, repository)
    this.#repositoryNames.set(pair(repository.ownerId, normalizeName(repository.name)), repository)
  }

  #addIssue(issue: Issue): void {
    this.#issues.set(issue.id, issue)
    this.#issueIndexes.set(pair(issue.repositoryId, String(issue.index)), issue)
  }
}

function pair(id: Id, key: string): string {
  return `${id}/${key}`
}
