import type { Id } from './ids.ts'

/** Event type to the data it carries. */
export interface ForgeEventData {
  'issue.pinned': { readonly position: number }
  'issue.unpinned': { readonly position: number }
  'issue.moved': { readonly from: number; readonly to: number }
  'user.blocked': { readonly note: string }
  'user.unblocked': Record<never, never>
  'badge.granted': { readonly slug: string }
  'badge.revoked': { readonly slug: string }
  'badge.defined': { readonly slug: string }
  'badge.updated': { readonly slug: string }
  'badge.removed': { readonly slug: string }
  // one per lifecycle call, not one per row that went with it
  'user.deleted': { readonly blocks: number; readonly grants: number }
  'organization.deleted': { readonly blocks: number }
  'repository.deleted': { readonly pins: number }
  'issue.deleted': { readonly wasPinned: boolean }
}

/** Every type an event can have. A reader passes on types it does not know. */
export type ForgeEventType = keyof ForgeEventData

/** What an event is about: which of the host's things, null where none is concerned. */
export interface EventSubject {
  readonly organizationId: Id | null
  readonly repositoryId: Id | null
  readonly issueId: Id | null
  readonly userId: Id | null
}

/** What a pure rule says of a change: its type and data. The service adds the subject. */
export type RuleEvent<T extends ForgeEventType = ForgeEventType> = T extends ForgeEventType
  ? { readonly type: T; readonly data: ForgeEventData[T] }
  : never

/** A rule's event with its subject: what a store writes. The store adds id, time and actor. */
export type EventDraft<T extends ForgeEventType = ForgeEventType> = T extends ForgeEventType
  ? RuleEvent<T> & EventSubject
  : never

/** One change. The envelope is the same for every type and is fixed from the first migration. */
export type ForgeEvent<T extends ForgeEventType = ForgeEventType> = T extends ForgeEventType
  ? EventDraft<T> & {
      readonly id: Id
      /** Format of `data`; 1. */
      readonly version: number
      readonly at: Date
      /** Null: the host's own code ('system', lifecycle). */
      readonly actorId: Id | null
    }
  : never
