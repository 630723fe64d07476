import type { Id, IdInput } from './ids.ts'

/** The two kinds of pin board that a repository has. Each has its own limit. */
export type PinKind = 'issue' | 'pullRequest'

/** The two formats that an instance's signing key can have. */
export type SigningKeyFormat = 'openpgp' | 'ssh'

/** A kind of object of the host. */
export type HostThing = 'user' | 'organization' | 'repository' | 'issue'

/** A reference to one of the host's accounts. */
export interface AccountRef {
  readonly kind: 'user' | 'organization'
  readonly id: IdInput
}

/**
 * A reference to one of the host's issues or pull requests. It is trusted: the host has looked it up. An id is
 * never used twice, not even by an issue and a pull request.
 */
export interface IssueRef {
  readonly id: IdInput
  readonly repositoryId: IdInput
  readonly kind: PinKind
}

/** A pinned issue or pull request. `position` is its 1-based position on the board. */
export interface Pin {
  readonly issueId: Id
  readonly position: number
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/** A block of a user by an organization. */
export interface Block {
  readonly organizationId: Id
  readonly userId: Id
  /** Up to 255 characters. `""` when no note was given. */
  readonly note: string
  readonly blockedAt: Date
  readonly blockedBy: Id | null
}

/** A badge of the catalogue. */
export interface Badge {
  readonly id: Id
  readonly slug: string
  readonly description: string
  readonly imageUrl: string
}

/** A badge that a user holds. */
export interface Grant {
  readonly badge: Badge
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** The instance's public signing key. */
export interface PublicKey {
  readonly format: SigningKeyFormat
  /** The key as it is served: an armored OpenPGP key, or one OpenSSH public key line that ends in a newline. */
  readonly text: string
  /** An HTTP entity tag in quotes. It changes only when the text changes. */
  readonly etag: string
}
