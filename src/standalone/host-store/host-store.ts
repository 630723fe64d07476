import type { Id, IssueRef, MaybePromise } from '../../index.ts'
import type { FixtureVisibility } from '../fixture/fixture.ts'
import type { Account, CollaboratorRole, Issue, Label, Repository } from '../fixture/seed.ts'

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

/** What a user, or an anonymous caller, is to an organization or a repository. */
export interface Standing<Access> {
  readonly isSiteAdmin: boolean
  /** Undefined if the organization or repository does not exist. */
  readonly access: Access | undefined
}

/** A milestone of a repository. */
export interface Milestone {
  readonly id: Id
  readonly title: string
  readonly description: string
  readonly state: 'open' | 'closed'
  readonly deadline: Date | null
  readonly createdAt: Date | null
  readonly updatedAt: Date | null
  readonly closedAt: Date | null
  readonly openIssues: number
  readonly closedIssues: number
}

/** An issue or pull request with the related records that a response contains. */
export interface IssueDetails {
  readonly issue: Issue
  readonly repository: Repository
  readonly owner: Account
  readonly poster: Account
  readonly labels: readonly Label[]
  readonly assignees: readonly Account[]
  readonly milestone?: Milestone | undefined
  /** Of an imported issue whose author has no account here: who the document names as the author. */
  readonly originalAuthor?: { readonly id: number; readonly name: string } | undefined
  readonly openIssues: number
  readonly openPullRequests: number
  /** The user for whom the issue is read, if one is named. */
  readonly viewer?: Account | undefined
}

/**
 * The data of the host: accounts, memberships, repositories, issues and tokens. Names are case-insensitive. The methods
 * return synchronously where the data is available synchronously, so that the ports of the forge do too.
 */
export interface HostStore<Tx = unknown> {
  /** @param digest - the SHA-256 of the token in hexadecimal */
  findUserByToken(digest: string): MaybePromise<{ readonly id: Id; readonly username: string } | undefined>
  findAccount(name: string): MaybePromise<{ readonly id: Id; readonly kind: 'user' | 'organization' } | undefined>
  findRepository(owner: string, name: string): MaybePromise<{ readonly id: Id } | undefined>
  findIssue(repositoryId: Id, index: number): MaybePromise<IssueRef | undefined>
  isSiteAdmin(userId: Id): MaybePromise<boolean>
  /** @param transaction - a transaction of the host that is open; its changes are seen */
  isMember(organizationId: Id, userId: Id, transaction?: Tx | undefined): MaybePromise<boolean>
  /** `userId` is undefined for an anonymous caller. */
  organizationStanding(organizationId: Id, userId: Id | undefined): MaybePromise<Standing<OrganizationAccess>>
  /** `userId` is undefined for an anonymous caller. */
  repositoryStanding(repositoryId: Id, userId: Id | undefined): MaybePromise<Standing<RepositoryAccess>>
  /** Returns accounts in the order of the ids, with undefined for an unknown id. */
  accounts(ids: readonly Id[]): MaybePromise<readonly (Account | undefined)[]>
  /**
   * Returns issues in the order of the ids, with undefined for an unknown id.
   *
   * @param viewerId - the user for whom they are read, whose account is returned with each
   */
  issues(ids: readonly Id[], viewerId?: Id | undefined): MaybePromise<readonly (IssueDetails | undefined)[]>
}
