import type { Id } from '../../schema/ids.ts'
import type { CursorPage } from '../../schema/paging.ts'
import type { ForgeEvent, ForgeEventType } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { PageQuery } from './stores.ts'

/** Which events the audit view shows. An undefined field does not restrict the result. */
export interface EventFilter {
  readonly organizationId?: Id | undefined
  readonly repositoryId?: Id | undefined
  readonly userId?: Id | undefined
  readonly actorId?: Id | undefined
  readonly types?: readonly ForgeEventType[] | undefined
}

/** A consumer's lease on its position in the outbox. */
export interface Claim {
  /** The position up to which the consumer has processed events: read on from here. For a new consumer, the oldest cursor. */
  readonly cursor: string
}

/** A consumer of a name. Of all processes that use the name, the one that holds the lease consumes. */
export interface Consumer {
  /** The consumer's name: 1 to 64 characters, compared exactly. */
  readonly name: string
  /** Identifies the loop of one process: a string that no other loop uses. */
  readonly holder: string
}

/** The table of events. Every change appends its events itself; appending is not a separate call. */
export interface EventStore<Tx> {
  /**
   * Reads the outbox: committed events in order, those after the cursor. An undefined cursor starts at the beginning.
   * The returned cursor continues after this page, also if the page was empty. The first read of a committed event
   * assigns its position permanently. After a prune that is the oldest cursor.
   * @throws ForgeError `INVALID_INPUT` if the cursor is invalid; `EVENTS_PRUNED` if it is before the oldest cursor;
   * `CURSOR_AHEAD` if it is beyond the last event, or beyond the last removed one if that is later
   */
  read(query: { readonly after: string | undefined; readonly limit: number }): MaybePromise<{
    readonly events: readonly ForgeEvent[]
    readonly cursor: string
  }>
  /** Reads the audit view, newest first. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
  list(filter: EventFilter, query: PageQuery): MaybePromise<CursorPage<ForgeEvent>>
  /** Returns the pins and unpins of one issue, in order of id. */
  history(issueId: Id, transaction?: Tx): MaybePromise<readonly ForgeEvent<'issue.pinned' | 'issue.unpinned'>[]>
  /**
   * Takes or renews the lease of a name for the given number of milliseconds from now, by the storage's clock. Returns
   * undefined while another holder has the lease. A name that was never used is created, and from then on holds back
   * `prune`.
   */
  claim(consumer: Consumer, milliseconds: number): MaybePromise<Claim | undefined>
  /**
   * Moves the cursor of the name forward, never back. Returns false, and moves nothing, if the holder has lost the
   * lease. @throws ForgeError `INVALID_INPUT`, `CURSOR_AHEAD` as `read`; then nothing is moved
   */
  advance(consumer: Consumer, cursor: string): MaybePromise<boolean>
  /** Gives up the lease if the holder has it. The cursor stays. */
  release(consumer: Consumer): MaybePromise<void>
  /**
   * Deletes a name and its cursor, whichever process holds it. The name no longer holds back `prune`. Returns false if
   * the name did not exist.
   */
  forget(name: string): MaybePromise<boolean>
  /**
   * Removes events that were created before a time and that every consumer has processed. Pins and unpins of issues
   * that are not retired stay for their history. The oldest cursor is then that of the last removed event.
   *
   * @returns how many were removed
   */
  prune(before: Date): MaybePromise<number>
}
