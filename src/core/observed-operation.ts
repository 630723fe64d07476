import type { ForgeErrorCode } from '../schema/errors.ts'

/** One operation of the storage as it ended, for metrics. It holds no id and no content. */
export interface ObservedOperation {
  /** The store that was asked, as the storage contract names it; `storage` for what concerns all of them. */
  readonly store: 'pinBoards' | 'blocks' | 'badgeCases' | 'badgeCatalogue' | 'events' | 'storage'
  /** The method of the contract: `update`, `epoch`, `load`, `page`, … A new one is a minor version. */
  readonly operation: string
  /** From the call to its answer, with every wait for a lock and every attempt in between. */
  readonly milliseconds: number
  /**
   * `done`; `stale`: a lifecycle call came between, and the forge asks again; `refused`: a rule said no; `aborted`: the
   * caller's signal ended it; `failed`: the storage was busy, away or not migrated, or something unexpected was thrown.
   */
  readonly outcome: 'done' | 'stale' | 'refused' | 'aborted' | 'failed'
  /** What a `ForgeError` refused it with, or failed it; undefined for everything else. */
  readonly code: ForgeErrorCode | undefined
}
