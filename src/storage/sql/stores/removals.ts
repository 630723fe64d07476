import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Removed, Retired } from '../../contract/storage.ts'
import type { PinBoardKey, PinRow } from '../../contract/stores.ts'
import type { Session } from '../session.ts'
import type { Head, LockedAggregate } from './locks.ts'

/** What one store has removed with one retired thing. */
export interface Removal {
  /** How many rows it removed. A count that is left out is 0. */
  readonly removed: Partial<Removed>
  /** The heads that the store has locked besides those of the thing, to be saved. */
  readonly heads?: readonly Head[]
}

/** A locked pin board. */
export type LockedBoard = LockedAggregate<PinBoardKey, PinRow>

/** What is locked when the stores remove the rows of a thing. A store that locks more keeps to the global order of locks. */
export interface LockedThing {
  readonly user: Head
  readonly organization: Head
  /** The two boards of the repository. */
  readonly repository: readonly Head[]
  /** Every board that has the issue, and the one that the host named. The head of the issue is locked too. */
  readonly issue: readonly LockedBoard[]
}

/** What one store removes with each kind of thing. A new store does not compile until it says so for all of them. */
export type Removals = {
  readonly [T in Retired['thing']]: (
    session: Session,
    retired: Extract<Retired, { readonly thing: T }>,
    locked: LockedThing[T],
  ) => SyncOrAsync<Removal>
}

/** One store, and what it removes. */
export interface SqlStore<Store> {
  readonly store: Store
  readonly removals: Removals
}

/** The removal of a store that has nothing of a thing. */
// biome-ignore lint/correctness/useYield: it waits for nothing
export function* keepAll(): SyncOrAsync<Removal> {
  return { removed: {} }
}
