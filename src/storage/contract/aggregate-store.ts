import type { Decision } from '../../schema/decision.ts'
import type { EventDraft, ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { MaybePromise } from '../../schema/steps.ts'

/** Who and when, for the envelope of the events a change makes; `at` is read once for every attempt. */
export interface Authorship {
  readonly actorId: Id | null
  /** The time of the change; asked again for every attempt. */
  readonly at: () => Date
}

/** Runs after a change is written and before it is committed, on the same transaction. */
export type BeforeCommit<Tx> = (events: readonly ForgeEvent[], transaction: Tx) => MaybePromise<void>

/** What every write carries besides its decision. */
export interface WriteContext<Tx> {
  readonly by: Authorship
  readonly beforeCommit?: BeforeCommit<Tx> | undefined
  /** The host's open transaction to write in; undefined = the storage's own. */
  readonly transaction?: Tx | undefined
}

/** One change of one aggregate. */
export interface Change<State, Result, Tx> extends WriteContext<Tx> {
  /** The aggregate's epoch as read before the ports were asked; undefined = nothing was asked. */
  readonly seen: number | undefined
  /**
   * Pure and synchronous; may run again on a newer state, at a later time. Gives back the very state it got when nothing
   * changes: then nothing is written, but that the head may be made. What it throws ends the change with nothing written.
   *
   * @param at - when: the time of the attempt, which its events bear too
   */
  readonly decide: (state: State, at: Date) => Decision<State, Result, EventDraft>
  /** A lifecycle call: the epoch goes up even when nothing else changes, so that whoever asked before asks again. */
  readonly raisesEpoch?: true | undefined
  /**
   * How long the storage has already taken for the same call, in milliseconds: a storage that limits the time of a call
   * subtracts it. Default: 0.
   */
  readonly spentMilliseconds?: number | undefined
  /** Asked at the start of every attempt: when it has aborted, the change ends with its reason and nothing is written. */
  readonly signal?: AbortSignal | undefined
}

/** How a change ended. */
export type Outcome<Result> =
  /** A lifecycle call came between: nothing was written; ask the ports again. */
  { readonly stale: true } | { readonly stale: false; readonly result: Result; readonly events: readonly ForgeEvent[] }

/** One aggregate: load under its lock, decide (pure, synchronous), write all or nothing with the events. */
export interface AggregateStore<Key, State, Tx> {
  /** How many lifecycle calls the aggregate has seen; 0 when it does not exist yet. */
  epoch(key: Key, transaction?: Tx): MaybePromise<number>
  /** @throws ForgeError `*_NOT_FOUND` when the key, or what the decision adds, is retired; `STORAGE_BUSY`, `STORAGE_UNAVAILABLE` */
  update<Result>(key: Key, change: Change<State, Result, Tx>): MaybePromise<Outcome<Result>>
}
