import type { Id, IssueRef, MaybePromise } from '../../index.ts'
import type { FixtureVisibility } from '../fixture/fixture.ts'
import type { Account, CollaboratorRole, Issue, Label, Repository, Seed } from '../fixture/seed.ts'

/** How a user, or nobody, stands to an organization. */
export interface OrganizationStanding {
  readonly visibility: FixtureVisibility
  /** Undefined: no member, or nobody. */
  readonly membership: 'owner' | 'member' | undefined
}

/** How a user, or nobody, stands to a repository. */
export interface RepositoryStanding {
  readonly isPrivate: boolean
  readonly ownerVisibility: FixtureVisibility
  /** The user who owns it. */
  readonly isOwner: boolean
  /** In the organization that owns it. */
  readonly membership: 'owner' | 'member' | undefined
  readonly collaboration: CollaboratorRole | undefined
}

/** An issue or pull request with what is shown beside it. */
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
 * Who is who in the host: accounts, memberships, repositories, issues and tokens. Names are case-insensitive. Answers come
 * at once where the data is at hand, so that the forge's ports do too.
 */
export interface HostStore {
  /** Whether there is no account yet. */
  isEmpty(): MaybePromise<boolean>
  /** Takes everyone in; the store must be empty. What is the forge's own (badges, blocks, pins) is passed over. */
  load(seed: Seed): MaybePromise<void>
  /** @param digest - the token's SHA-256 in hexadecimal */
  findUserByToken(digest: string): MaybePromise<{ readonly id: Id; readonly username: string } | undefined>
  findAccount(name: string): MaybePromise<{ readonly id: Id; readonly kind: 'user' | 'organization' } | undefined>
  findRepository(owner: string, name: string): MaybePromise<{ readonly id: Id } | undefined>
  findIssue(repositoryId: Id, index: number): MaybePromise<IssueRef | undefined>
  isSiteAdmin(userId: Id): MaybePromise<boolean>
  isMember(organizationId: Id, userId: Id): MaybePromise<boolean>
  /** Undefined: no such organization. `userId` undefined: nobody is signed in. */
  organizationStanding(organizationId: Id, userId: Id | undefined): MaybePromise<OrganizationStanding | undefined>
  /** Undefined: no such repository. `userId` undefined: nobody is signed in. */
  repositoryStanding(repositoryId: Id, userId: Id | undefined): MaybePromise<RepositoryStanding | undefined>
  /** In the order asked; undefined where there is none. */
  accounts(ids: readonly Id[]): MaybePromise<readonly (Account | undefined)[]>
  /** In the order asked; undefined where there is none. */
  issues(ids: readonly Id[]): MaybePromise<readonly (IssueDetails | undefined)[]>
}
