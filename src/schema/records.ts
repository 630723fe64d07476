import type { Id, IdInput } from './ids.ts'

/** The two kinds of pin board a repository has, each with its own limit. */
export type PinKind = 'issue' | 'pullRequest'

/** The two formats an instance's signing key can have. */
export type SigningKeyFormat = 'openpgp' | 'ssh'

/** An account of the host's. */
export interface AccountRef {
  readonly kind: 'user' | 'organization'
  readonly id: IdInput
}

/** An issue or pull request of the host's. Trusted: the host looked it up. Ids are never given out twice, across both kinds. */
export interface IssueRef {
  readonly id: IdInput
  readonly repositoryId: IdInput
  readonly kind: PinKind
}

/** A pinned issue or pull request; `position` is its 1-based place on the board. */
export interface Pin {
  readonly issueId: Id
  readonly position: number
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/** An organization keeps a user out. */
export interface Block {
  readonly organizationId: Id
  readonly userId: Id
  /** Up to 255 characters, `""` when none was given. */
  readonly note: string
  readonly blockedAt: Date
  readonly blockedBy: Id | null
}

/** A definition in the badge catalogue. */
export interface Badge {
  readonly id: Id
  readonly slug: string
  readonly description: string
  readonly imageUrl: string
}

/** A user holds a badge. */
export interface Grant {
  readonly badge: Badge
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** The instance's public signing key. */
export interface PublicKey {
  readonly format: SigningKeyFormat
  /** What is served: an armored OpenPGP key, or one OpenSSH public key line ending in a newline. */
  readonly text: string
  /** An HTTP entity tag in quotes, the same as long as the text is. */
  readonly etag: string
}
