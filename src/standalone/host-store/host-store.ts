import type { Id, IssueRef, MaybePromise } from '../../index.ts'
import type { FixtureVisibility } from '../fixture/fixture.ts'
import type { Account, CollaboratorRole, Issue, Label, Repository, Seed } from '../fixture/seed.ts'

/** The relation of a user, or an anonymous caller, to an organization. */
export interface OrganizationAccess {
  readonly visibility: FixtureVisibility
  /** Undefined if the caller is anonymous or not a member. */
  readonly membership: 'owner' | 'member' | undefined
}

/** The relation of a user, or an anonymous caller, to a repository. */
export interface RepositoryAccess {
  readonly isPrivate: boolean
  readonly ownerVisibility: FixtureVisibility
  /** True if the user owns the repository. */
  readonly isOwner: boolean
  /** The membership in the organization that owns the repository. */
  readonly membership: 'owner' | 'member' | undefined
  readonly collaboration: CollaboratorRole | undefined
}

/** An issue or pull request with the related records that a response contains. */
export interface IssueDetails {
  readonly issue: Issue
  readonly repository: Repository
  readonly owner: Account
  readonly poster: Account
  readonly labels: readonly Label[]
  readonly assignees: readonly Account[]
  readonly openIssues: number
  readonly openPullRequests: number
}

/**
 * The data of the host: accounts, memberships, repositories, issues and tokens. Names are case-insensitive. The methods
 * return synchronously where the data is available synchronously, so that the ports of the forge do too.
 */
export interface HostStore {
  /** Returns true if there is no account yet. */
  isEmpty(): MaybePromise<boolean>
  /**
   * Loads the accounts and records of a seed. The store must be empty. The parts that belong to the forge (badges,
   * blocks, pins) are skipped.
   */
  load(seed: Seed): MaybePromise<void>
  /** @param digest - the SHA-256 of the token in hexadecimal */
  findUserByToken(digest: string): MaybePromise<{ readonly id: Id; readonly username: string } | undefined>
  findAccount(name: string): MaybePromise<{ readonly id: Id; readonly kind: 'user' | 'organization' } | undefined>
  findRepository(owner: string, name: string): MaybePromise<{ readonly id: Id } | undefined>
  findIssue(repositoryId: Id, index: number): MaybePromise<IssueRef | undefined>
  isSiteAdmin(userId: Id): MaybePromise<boolean>
  isMember(organizationId: Id, userId: Id): MaybePromise<boolean>
  /** Returns undefined if the organization does not exist. `userId` is undefined for an anonymous caller. */
  organizationAccess(organizationId: Id, userId: Id | undefined): MaybePromise<OrganizationAccess | undefined>
  /** Returns undefined if the repository does not exist. `userId` is undefined for an anonymous caller. */
  repositoryAccess(repositoryId: Id, userId: Id | undefined): MaybePromise<RepositoryAccess | undefined>
  /** Returns accounts in the order of the ids, with undefined for an unknown id. */
  accounts(ids: readonly Id[]): MaybePromise<readonly (Account | undefined)[]>
  /** Returns issues in the order of the ids, with undefined for an unknown id. */
  issues(ids: readonly Id[]): MaybePromise<readonly (IssueDetails | undefined)[]>
}
