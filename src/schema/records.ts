import type { ActionFacts } from './access.ts'
import type { Id, IdInput } from './ids.ts'
import type { BadgeAccess, BadgeEvents } from './services/badges.ts'
import { badgeActions } from './services/badges.ts'
import type { BlockAccess, BlockEvents } from './services/blocks.ts'
import { blockActions } from './services/blocks.ts'
import type { ExchangeAccess, ExchangeEvents } from './services/exchange.ts'
import { exchangeActions } from './services/exchange.ts'
import type { PinAccess, PinEvents } from './services/pins.ts'
import { pinActions } from './services/pins.ts'
import type { SigningKeyAccess } from './services/signing-keys.ts'
import { signingKeyActions } from './services/signing-keys.ts'

export type { AccessDecision, HostThing } from './access.ts'
export type { Badge, BadgeAccess, BadgeEvents, BadgeHolder, Grant } from './services/badges.ts'
export type { Block, BlockAccess, BlockEvents, BlockFacts, OrganizationBlock, UserBlock } from './services/blocks.ts'
export type { ExchangeAccess, ExchangeEvents } from './services/exchange.ts'
export type { IssueRef, Pin, PinAccess, PinEvents, PinKind } from './services/pins.ts'
export type { PublicKey, SigningKeyAccess, SigningKeyFormat } from './services/signing-keys.ts'

/** A reference to one of the host's accounts. */
export interface AccountRef {
  readonly kind: 'user' | 'organization'
  readonly id: IdInput
}

/**
 * One request for access: an action and the object it applies to. A policy must refuse an action that it does not know.
 */
export type AccessRequest =
  | PinAccess
  | BlockAccess
  | BadgeAccess
  | SigningKeyAccess
  | ExchangeAccess
  | { readonly action: 'events.read' }

/** The name of an action that a policy can allow or refuse. */
export type Action = AccessRequest['action']

/** The facts of every action. A new action does not compile until it is here. Source: docs/behaviour.md, Everywhere */
export const actionFacts: ActionFacts<AccessRequest> = {
  ...pinActions,
  ...blockActions,
  ...badgeActions,
  ...signingKeyActions,
  ...exchangeActions,
  'events.read': { concerns: undefined, allows: 'site admin' },
}

/** Maps each event type to its data: when it is written, and what its subject is. */
export interface ForgeEventData extends PinEvents, BlockEvents, BadgeEvents, ExchangeEvents {
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
