import type { ForgeStorage } from '../contract/forge-storage.ts'
import { sqlBadgeCases } from './badge-case-store.ts'
import { sqlBadgeCatalogue } from './badge-catalogue-store.ts'
import { sqlBlocks } from './block-store.ts'
import { EventLog } from './event-log.ts'
import { sqlEvents } from './event-store.ts'
import { Heads } from './heads.ts'
import { sqlPinBoards } from './pin-board-store.ts'
import { sqlRetirement } from './retirement.ts'
import type { SqlRuntime } from './session.ts'
import type { SqlContext } from './sql-context.ts'

/** What of a storage is the same over every SQL database. */
export type SqlStores<Tx> = Pick<
  ForgeStorage<Tx>,
  'pinBoards' | 'blocks' | 'badgeCases' | 'badgeCatalogue' | 'events' | 'retire'
>

/** Makes the stores of an SQL storage over the connections it runs on. */
export function createSqlStores<Tx>(context: SqlContext, runtime: SqlRuntime<Tx>): SqlStores<Tx> {
  const parts = { context, runtime, heads: new Heads(context), log: new EventLog(context) }

  return {
    pinBoards: sqlPinBoards(parts),
    blocks: sqlBlocks(parts),
    badgeCases: sqlBadgeCases(parts),
    badgeCatalogue: sqlBadgeCatalogue(parts),
    events: sqlEvents(parts),
    retire: sqlRetirement(parts),
  }
}
