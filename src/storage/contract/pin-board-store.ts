import type { Id } from '../../schema/ids.ts'
import type { PinKind } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/steps.ts'
import type { AggregateStore } from './aggregate-store.ts'

/** Names one pin board: a repository and a kind. */
export interface PinBoardKey {
  readonly repositoryId: Id
  readonly kind: PinKind
}

/** One pin as it is stored; its place in the list is its position. */
export interface PinRow {
  readonly issueId: Id
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/**
 * The pin boards: ordered lists. An `update` whose decision adds an issue that `retire` has remembered as gone
 * is refused with `ISSUE_NOT_FOUND`; on a retired repository every call but `epoch` is `REPOSITORY_NOT_FOUND`.
 */
export interface PinBoardStore<Tx> extends AggregateStore<PinBoardKey, readonly PinRow[], Tx> {
  /** The board in order; empty when nothing is pinned. */
  load(key: PinBoardKey, transaction?: Tx): MaybePromise<readonly PinRow[]>
}
