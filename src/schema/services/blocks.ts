import type { ActionFacts } from '../access.ts'
import type { Id } from '../ids.ts'

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

/** The events of blocks. */
export interface BlockEvents {
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
}

/** What the methods of blocks ask the policy for. */
export type BlockAccess =
  | { readonly action: 'blocks.read' | 'blocks.write'; readonly organizationId: Id }
  | {
      readonly action: 'user-blocks.read' | 'user-blocks.write'
      /** The user whose blocks are read or changed: who blocks. */
      readonly userId: Id
    }

export const blockActions: ActionFacts<BlockAccess> = {
  'blocks.read': { concerns: 'organization', allows: 'organization owner' },
  'blocks.write': { concerns: 'organization', allows: 'organization owner' },
  'user-blocks.read': { concerns: 'user', allows: 'the user' },
  'user-blocks.write': { concerns: 'user', allows: 'the user' },
}
