import type { ForgeEvent, ForgeEventType } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { PageQuery } from './stores.ts'

/** Which events the audit view shows; what is undefined does not narrow. */
export interface EventFilter {
  readonly organizationId?: Id | undefined
  readonly repositoryId?: Id | undefined
  readonly userId?: Id | undefined
  readonly actorId?: Id | undefined
  readonly types?: readonly ForgeEventType[] | undefined
}

/** A consumer's hold on its place in the outbox. */
export interface Claim {
  /** What the consumer has behind it: read on from here. The floor, where it never was here before. */
  readonly cursor: string
}

/** Who consumes under a name: of all processes that use the name, the one that holds its lease. */
export interface Consumer {
  /** The consumer's name: 1 to 64 characters, compared exactly. */
  readonly name: string
  /** One process's loop: a text nobody else uses. */
  readonly holder: string
}

/** The table of events. Appending is part of every change, not a call. */
export interface EventStore<Tx> {
  /**
   * The outbox: committed events in order, those after the cursor. An undefined cursor starts at the beginning;
   * the cursor given back asks for what comes after, also when nothing was there. What is committed and was not read
   * before has its place given here, once and for good. After a prune the beginning is the floor.
   * @throws ForgeError `INVALID_INPUT` for a cursor that is none; `EVENTS_PRUNED` for one below the floor
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
  /**
   * Takes a name's lease for so many milliseconds from now, by the storage's clock, or renews it; undefined while another
   * holder's lasts. A name that was never used is new, and from then on holds back `prune`.
   */
  claim(consumer: Consumer, milliseconds: number): MaybePromise<Claim | undefined>
  /** Moves the name's cursor on, never back; false, and nothing moved, when the holder has lost the lease. */
  advance(consumer: Consumer, cursor: string): MaybePromise<boolean>
  /** Gives the lease up, where the holder has it; the cursor stays. */
  release(consumer: Consumer): MaybePromise<void>
  /** Forgets a name and its cursor, whoever holds it: it holds back `prune` no more. False when there was none. */
  forget(name: string): MaybePromise<boolean>
  /**
   * Removes events that were made before a time and that every consumer has behind it. Pins and unpins of issues that
   * are not gone stay for their history. The floor of the outbox is then behind the last that was removed.
   *
   * @returns how many were removed
   */
  prune(before: Date): MaybePromise<number>
}
