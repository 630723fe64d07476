import type { ActionFacts } from '../access.ts'
import type { Id } from '../ids.ts'

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

/** The events of badges and of their catalogue. */
export interface BadgeEvents {
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
}

/** What the methods of badges ask the policy for. */
export type BadgeAccess =
  | {
      readonly action: 'badges.read' | 'badges.grant'
      /** Undefined: the request is about any user. It is made before the user's name is looked up. */
      readonly userId?: Id | undefined
    }
  | { readonly action: 'badges.catalogue.read' | 'badges.catalogue.write' }

export const badgeActions: ActionFacts<BadgeAccess> = {
  'badges.read': { concerns: 'user', allows: 'site admin' },
  'badges.grant': { concerns: 'user', allows: 'site admin' },
  'badges.catalogue.read': { concerns: undefined, allows: 'site admin' },
  'badges.catalogue.write': { concerns: undefined, allows: 'site admin' },
}
