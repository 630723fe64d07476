import type { ForgeEvent, ForgeEventType } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { MaybePromise } from '../../schema/steps.ts'
import type { PageQuery } from './page-query.ts'

/** Which events the audit view shows; what is undefined does not narrow. */
export interface EventFilter {
  readonly organizationId?: Id | undefined
  readonly repositoryId?: Id | undefined
  readonly userId?: Id | undefined
  readonly actorId?: Id | undefined
  readonly types?: readonly ForgeEventType[] | undefined
}

/** The table of events. Appending is part of every change, not a call. */
export interface EventStore<Tx> {
  /**
   * The outbox: committed events in order, those after the cursor. An undefined cursor starts at the beginning;
   * the cursor given back asks for what comes after, also when nothing was there.
   * @throws ForgeError `INVALID_INPUT` for a cursor that is none
   */
  read(query: { readonly after: string | undefined; readonly limit: number }): MaybePromise<{
    readonly events: readonly ForgeEvent[]
    readonly cursor: string
  }>
  /** The audit view, newest first. @throws ForgeError `INVALID_INPUT` for a cursor that is none */
  list(filter: EventFilter, query: PageQuery): MaybePromise<Page<ForgeEvent>>
  /** Pins and unpins of one issue, in order of id. */
  history(issueId: Id, transaction?: Tx): MaybePromise<readonly ForgeEvent<'issue.pinned' | 'issue.unpinned'>[]>
  /**
   * The events with these ids as they are committed, seen from outside every transaction. An id whose transaction was
   * rolled back may have been given to another event since: compare before taking one for the other.
   */
  committed(eventIds: readonly Id[]): MaybePromise<readonly ForgeEvent[]>
}
