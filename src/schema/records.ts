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

/** A block of a user: by an organization, or by another user. */
export type Block = OrganizationBlock | UserBlock

/** A block of a user by an organization. */
export interface OrganizationBlock extends BlockFacts {
  readonly organizationId: Id
  readonly blockerId?: undefined
}

/** A block of a user by another user. */
export interface UserBlock extends BlockFacts {
  /** The user who blocks. */
  readonly blockerId: Id
  readonly organizationId?: undefined
}

/** What every block has. */
export interface BlockFacts {
  /** The user who is blocked. */
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

/** A user who holds a badge. */
export interface BadgeHolder {
  readonly userId: Id
  readonly grantedAt: Date
  readonly grantedBy: Id | null
}

/** The instance's public signing key. */
export interface PublicKey {
  readonly format: SigningKeyFormat
  /**
   * The key as it is served: an armored OpenPGP key, or an OpenSSH public key line that ends in a newline. Keys in rotation
   * are one armored block, or one line each, the current key first.
   */
  readonly text: string
  /** An HTTP entity tag in quotes. It changes only when the text changes. */
  readonly etag: string
  /** When the current key, or its subkey that signs, expires. Default: never. */
  readonly expiresAt?: Date | undefined
  /** Whether the current key is revoked. Default: it is not. */
  readonly isRevoked?: boolean | undefined
}

/** Maps each event type to its data: when it is written, and what its subject is. */
export interface ForgeEventData {
  /** `pins.pin` pinned an issue, at the end of its board. Subject: repository, issue. */
  'issue.pinned': { readonly position: number }
  /** `pins.unpin` removed an issue from its board; `position` is where it was. Subject: repository, issue. */
  'issue.unpinned': { readonly position: number }
  /** `pins.move` changed the position of a pin. Subject: repository, issue. */
  'issue.moved': { readonly from: number; readonly to: number }
  /**
   * `blocks.block` blocked a user. `blockerId` is the user who blocks, and not there if an organization does. Subject: the
   * organization, if one blocks, and the user who is blocked.
   */
  'user.blocked': { readonly note: string; readonly blockerId?: Id }
  /**
   * `blocks.unblock` lifted a block. `blockerId` is that of `user.blocked`. Subject: the organization, if one blocked, and the
   * user who was blocked.
   */
  'user.unblocked': { readonly blockerId?: Id }
  /** `badges.grant` granted a badge; one event for each badge that the user did not hold. Subject: user. */
  'badge.granted': { readonly slug: string }
  /** `badges.revoke` revoked a badge; one event for each badge that the user held. Subject: user. */
  'badge.revoked': { readonly slug: string }
  /** `badges.catalogue.define` added a badge to the catalogue. No subject. */
  'badge.defined': { readonly slug: string }
  /** `badges.catalogue.update` changed a badge of the catalogue. No subject. */
  'badge.updated': { readonly slug: string }
  /** `badges.catalogue.remove` removed a badge from the catalogue. No subject. */
  'badge.removed': { readonly slug: string }
  /**
   * One for each batch of `exchange.import` that changed something. Counts of issues, and of comments that were created or
   * replaced. Subject: repository.
   */
  'issues.imported': { readonly created: number; readonly updated: number; readonly comments: number }
  /**
   * One for each batch of `exchange.reattribute` that changed something. Counts of what got an account. Subject: repository.
   */
  'issues.reattributed': {
    readonly issues: number
    readonly assignees: number
    readonly comments: number
    readonly reactions: number
  }
  /**
   * `lifecycle.userDeleted` removed the blocks of and by a user and the grants to the user; the data counts them. One event
   * for the call, not one for each removed row. Subject: user.
   */
  'user.deleted': { readonly blocks: number; readonly grants: number }
  /** `lifecycle.organizationDeleted` removed the blocks of an organization. Subject: organization. */
  'organization.deleted': { readonly blocks: number }
  /** `lifecycle.repositoryDeleted` removed the pins of a repository. Subject: repository. */
  'repository.deleted': { readonly pins: number }
  /** `lifecycle.issueDeleted` removed an issue from its board, if it was pinned. Subject: repository, issue. */
  'issue.deleted': { readonly wasPinned: boolean }
}

/** The types of events. A reader must pass on types that it does not know. */
export type ForgeEventType = keyof ForgeEventData

/** The host's objects that an event is about. A property is null when the event is not about such an object. */
export interface EventSubject {
  readonly organizationId: Id | null
  readonly repositoryId: Id | null
  readonly issueId: Id | null
  readonly userId: Id | null
}

/** An event as a pure rule returns it: type and data. The service adds the subject. */
export type RuleEvent<T extends ForgeEventType = ForgeEventType> = T extends ForgeEventType
  ? { readonly type: T; readonly data: ForgeEventData[T] }
  : never

/**
 * The decision of a pure rule: the new state, the events, and the result for the caller.
 * A rule that changes nothing returns the same state object that it was given, and no events.
 */
export interface Decision<State, Result, Event = RuleEvent> {
  readonly state: State
  readonly events: readonly Event[]
  readonly result: Result
}

/** An event of a rule with its subject, as it is passed to a store. The store adds the id, the time and the actor. */
export type EventDraft<T extends ForgeEventType = ForgeEventType> = T extends ForgeEventType
  ? RuleEvent<T> & EventSubject
  : never

/** One recorded change. The envelope is the same for all types and has been fixed since the first migration. */
export type ForgeEvent<T extends ForgeEventType = ForgeEventType> = T extends ForgeEventType
  ? EventDraft<T> & {
      readonly id: Id
      /** The version of the format of `data`. Currently 1. */
      readonly version: number
      readonly at: Date
      /** Who made the change. Null: an anonymous caller, or the host's own code ('system', lifecycle calls). */
      readonly actorId: Id | null
    }
  : never
