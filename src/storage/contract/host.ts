import type { Id } from '../../schema/ids.ts'
import type { AccountRef, IssueRef } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'

/** What a port of a forge or of its API passes on: who asks, and the host's open transaction, if there is one. */
export interface HostContext<Tx> {
  readonly actor?: unknown
  readonly transaction?: Tx | undefined
  /** What `findRepository` returned for the request. What was read with it is not read again. */
  readonly repository?: object | undefined
}

/** What else the caller will ask for: it is read together. */
export interface WantedOfRepository {
  /** The number of an issue or pull request. */
  readonly index?: number | undefined
}

/** A repository, as the tables of the host have it. */
export interface FoundRepository {
  readonly id: Id
}

/** What the tables of the host say of a user in a repository or an organization. */
export interface Standing {
  /** Whether the user is a member of the organization, or of the one that owns the repository. */
  readonly isMember: boolean
  /** Whether the user is an owner of that organization, or owns the repository. */
  readonly isOwner: boolean
  readonly isPrivate: boolean
}

/** A user, as the table of the host has it. What no column is named for is undefined. */
export interface HostUser {
  readonly id: Id
  readonly name: string
  readonly fullName: string | undefined
  readonly email: string | undefined
  readonly avatar: string | undefined
}

/** An issue or a pull request, as the table of the host has it. What no column is named for is undefined. */
export interface HostIssue {
  readonly id: Id
  readonly number: number
  readonly title: string | undefined
  readonly body: string | undefined
  readonly isClosed: boolean
  readonly author: HostUser | undefined
  readonly createdAt: Date | undefined
  readonly updatedAt: Date | undefined
}

/**
 * What the tables of the host answer, in its transaction where there is one. It is the `directory` of an API and the
 * `membership` of a forge. A name is compared exactly first; then one that differs in case alone is found, if there is only
 * one.
 */
export interface HostPorts<Tx> {
  /** Finds a user or an organization by its name. */
  findAccount(
    name: string,
    context: HostContext<Tx>,
    wanted?: AccountRef['kind'],
  ): MaybePromise<(AccountRef & { readonly id: Id }) | undefined>
  /** Finds a repository by the names of its owner and its own. */
  findRepository(
    owner: string,
    name: string,
    context: HostContext<Tx>,
    wanted?: WantedOfRepository,
  ): MaybePromise<FoundRepository | undefined>
  /** Finds an issue or a pull request by its number in a repository. */
  findIssue(
    repositoryId: Id,
    index: number,
    context: HostContext<Tx>,
  ): MaybePromise<(IssueRef & { readonly id: Id; readonly repositoryId: Id }) | undefined>
  /** Returns true if the user is a member of the organization. */
  isMember(
    member: { readonly organizationId: Id; readonly userId: Id },
    context: HostContext<Tx>,
  ): MaybePromise<boolean>
  /** Returns what the tables say of `context.actor` in a repository; undefined if it does not exist. */
  standingInRepository(repositoryId: Id, context: HostContext<Tx>): MaybePromise<Standing | undefined>
  /** Returns what the tables say of `context.actor` in an organization; undefined if it does not exist. */
  standingInOrganization(organizationId: Id, context: HostContext<Tx>): MaybePromise<Standing | undefined>
  /** The users with these ids, in their order. */
  users(ids: readonly Id[], context: HostContext<Tx>): MaybePromise<readonly (HostUser | undefined)[]>
  /** The issues with these ids, in their order. */
  issues(ids: readonly Id[], context: HostContext<Tx>): MaybePromise<readonly (HostIssue | undefined)[]>
  /** The pull requests with these ids, in their order. */
  pullRequests(ids: readonly Id[], context: HostContext<Tx>): MaybePromise<readonly (HostIssue | undefined)[]>
}
