import type { Id } from '../../schema/ids.ts'
import type { Badge, Grant } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/steps.ts'
import type { AggregateStore } from './aggregate-store.ts'

/** Names the part of one user's badge case that a change is about. */
export interface BadgeCaseKey {
  readonly userId: Id
  /** Slugs, compared exactly. */
  readonly slugs: readonly string[]
}

/** What is known of the slugs asked for. */
export interface BadgeCaseState {
  /** The definitions that exist, of the slugs asked for. */
  readonly known: readonly Badge[]
  /** The grants the user holds, of the slugs asked for. A change adds to these and takes from them. */
  readonly held: readonly Grant[]
}

/** The badge cases of users. On a retired user every call but `epoch` is `USER_NOT_FOUND`. */
export interface BadgeCaseStore<Tx> extends AggregateStore<BadgeCaseKey, BadgeCaseState, Tx> {
  /** All grants of the user, oldest first. */
  heldBy(userId: Id, transaction?: Tx): MaybePromise<readonly Grant[]>
}
