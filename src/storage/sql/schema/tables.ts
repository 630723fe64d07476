import type { Generated } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { PinKind } from '../../../schema/records.ts'

/**
 * Our tables, by name without prefix. Ids of the host have the column type that the host chose, and are text here, because
 * every query casts them. Times are milliseconds since 1970; `retired` is 0 or 1.
 */
export interface Tables {
  /** One row: the version of the tables. */
  readonly ledger: {
    readonly only: number
    readonly version: number
    readonly oldest_library: number
    readonly user_ids: string
    readonly organization_ids: string
    readonly repository_ids: string
    readonly issue_ids: string
  }
  /** One row per aggregate: its lock. `next_seq` is the next place in its list; `total` counts the list. */
  readonly heads: {
    readonly scope: HeadScope
    readonly key: string
    readonly version: number
    readonly epoch: number
    readonly retired: number
    readonly total: number
    readonly next_seq: number
  }
  readonly board_pins: {
    readonly repository_id: Id
    readonly kind: PinKind
    readonly position: number
    readonly issue_id: Id
    readonly pinned_at: number
    readonly pinned_by: Id | null
  }
  /** Issues that are permanently retired. */
  readonly issue_tombstones: {
    readonly issue_id: Id
  }
  readonly organization_blocks: {
    readonly organization_id: Id
    readonly user_id: Id
    readonly seq: number
    readonly note: string
    readonly blocked_at: number
    readonly blocked_by: Id | null
  }
  readonly badges: {
    readonly id: Id
    readonly slug: string
    readonly description: string
    readonly image_url: string
  }
  readonly user_grants: {
    readonly user_id: Id
    readonly badge_id: Id
    readonly seq: number
    readonly granted_at: number
    readonly granted_by: Id | null
  }
  /** `position` is the place in the outbox, null until it is assigned. `data` is JSON. */
  readonly events: {
    readonly id: Generated<Id>
    readonly position: Generated<number | null>
    readonly type: string
    readonly version: number
    readonly at: number
    readonly actor_id: Id | null
    readonly organization_id: Id | null
    readonly repository_id: Id | null
    readonly issue_id: Id | null
    readonly user_id: Id | null
    readonly data: string
  }
  /** One row: the last assigned position, and the lowest place that may still be read from. */
  readonly outbox: {
    readonly only: number
    readonly last_position: number
    readonly floor: number
  }
  /** The consumers of the outbox, by name: the place each has processed, and the holder and end of its lease. */
  readonly consumers: {
    readonly name: string
    readonly position: number
    readonly holder: string | null
    readonly until: number
  }
}

/** What a head locks. */
export type HeadScope =
  | 'user'
  | 'organization'
  | 'issueBoard'
  | 'pullRequestBoard'
  | 'issueImports'
  | 'issue'
  | 'catalogue'

const NAMES: Readonly<Record<keyof Tables, true>> = {
  ledger: true,
  heads: true,
  board_pins: true,
  issue_tombstones: true,
  organization_blocks: true,
  badges: true,
  user_grants: true,
  events: true,
  outbox: true,
  consumers: true,
}

/** The names of our tables, without prefix. */
export const TABLE_NAMES: readonly string[] = Object.keys(NAMES)
