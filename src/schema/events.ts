import type { Id } from './ids.ts'

/** Maps each event type to its data. */
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
  /** One for each batch of an import that changed something. Counts of issues, and of comments that were created. */
  'issues.imported': { readonly created: number; readonly updated: number; readonly comments: number }
  // One event per lifecycle call, not one per removed row.
  'user.deleted': { readonly blocks: number; readonly grants: number }
  'organization.deleted': { readonly blocks: number }
  'repository.deleted': { readonly pins: number }
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

/** Adds the subject to an event of a rule. */
export function withSubject(subject: Partial<EventSubject>, event: RuleEvent): EventDraft {
  const { organizationId = null, repositoryId = null, issueId = null, userId = null } = subject
  return { organizationId, repositoryId, issueId, userId, ...event }
}

/** Adds the same subject to all events of a rule. */
export function withSubjects(subject: Partial<EventSubject>, events: readonly RuleEvent[]): readonly EventDraft[] {
  return events.map((event) => withSubject(subject, event))
}

/** One recorded change. The envelope is the same for all types and has been fixed since the first migration. */
export type ForgeEvent<T extends ForgeEventType = ForgeEventType> = T extends ForgeEventType
  ? EventDraft<T> & {
      readonly id: Id
      /** The version of the format of `data`. Currently 1. */
      readonly version: number
      readonly at: Date
      /** Who made the change. Null: the host's own code ('system', lifecycle calls). */
      readonly actorId: Id | null
    }
  : never
