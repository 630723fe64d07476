import type { Id, IssueRef, PinKind } from '../index.ts'
import type { FixtureVisibility } from './fixture.ts'

/** A user or organization of the host. Both share one range of ids and one namespace. */
export interface Account {
  readonly id: Id
  readonly kind: 'user' | 'organization'
  readonly name: string
  readonly fullName: string
  /** `""` for organizations. */
  readonly email: string
  readonly hideEmail: boolean
  readonly siteAdmin: boolean
  readonly visibility: FixtureVisibility
  readonly location: string
  readonly website: string
  readonly description: string
  readonly createdAt: Date
}

/** An access token: its SHA-256 in hexadecimal, never the token. */
export interface Token {
  readonly digest: string
  readonly userId: Id
}

/** A user belongs to an organization. */
export interface Member {
  readonly organizationId: Id
  readonly userId: Id
  readonly role: 'owner' | 'member'
}

/** A repository of the host. */
export interface Repository {
  readonly id: Id
  readonly ownerId: Id
  readonly name: string
  readonly description: string
  readonly isPrivate: boolean
  readonly isArchived: boolean
  readonly defaultBranch: string
  readonly createdAt: Date
}

/** A role that a repository gives to one user. */
export type CollaboratorRole = 'admin' | 'writer' | 'reader'

/** A user has a role in a repository. */
export interface Collaborator {
  readonly repositoryId: Id
  readonly userId: Id
  readonly role: CollaboratorRole
}

/** A label of a repository. */
export interface Label {
  readonly id: Id
  readonly repositoryId: Id
  readonly name: string
  /** Six hexadecimal digits without `#`. */
  readonly color: string
  readonly description: string
}

/** An issue or pull request of the host; both share one range of ids. */
export interface Issue {
  readonly id: Id
  readonly repositoryId: Id
  /** 1-based, in the repository. */
  readonly index: number
  readonly kind: PinKind
  readonly title: string
  readonly body: string
  readonly posterId: Id
  readonly state: 'open' | 'closed'
  readonly isLocked: boolean
  /** A pull request's source branch; `""` for an issue. */
  readonly branch: string
  readonly commentCount: number
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly closedAt: Date | null
  /** In the order given. */
  readonly labelIds: readonly Id[]
  /** In the order given. */
  readonly assigneeIds: readonly Id[]
}

/** A badge to define, and who is to hold it. */
export interface SeedBadge {
  readonly slug: string
  readonly description: string
  readonly imageUrl: string
  readonly holderIds: readonly Id[]
}

/** A user to block. */
export interface SeedBlock {
  readonly organizationId: Id
  readonly userId: Id
  readonly note: string
}

/** Everyone and everything of a fixture, with ids in the place of names. */
export interface Seed {
  readonly accounts: readonly Account[]
  readonly tokens: readonly Token[]
  readonly members: readonly Member[]
  readonly repositories: readonly Repository[]
  readonly collaborators: readonly Collaborator[]
  readonly labels: readonly Label[]
  readonly issues: readonly Issue[]
  /** What is the forge's to keep, not the host's. */
  readonly badges: readonly SeedBadge[]
  readonly blocks: readonly SeedBlock[]
  readonly pins: readonly IssueRef[]
}
