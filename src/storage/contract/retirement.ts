import type { EventDraft } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { PinKind } from '../../schema/records.ts'
import type { WriteContext } from './aggregate-store.ts'

/** What is gone for good. */
export type Retired =
  | { readonly thing: 'user'; readonly userId: Id }
  | { readonly thing: 'organization'; readonly organizationId: Id }
  | { readonly thing: 'repository'; readonly repositoryId: Id }
  | { readonly thing: 'issue'; readonly issueId: Id; readonly repositoryId: Id; readonly kind: PinKind }

/** How many rows went with it. */
export interface Removed {
  readonly pins: number
  readonly blocks: number
  readonly grants: number
}

/** One retirement: the heads concerned are locked in the global order, marked, their epochs raised, and what hung on them removed. */
export interface Retirement<Tx> extends WriteContext<Tx> {
  readonly retired: Retired
  /** Pure: the event that tells of it. Not asked when the thing was retired before: then nothing happens. */
  readonly record: (removed: Removed) => EventDraft
}
