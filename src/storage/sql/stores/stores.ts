import type { ForgeStorage } from '../../contract/storage.ts'
import type { AggregateStores } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { SqlRuntime } from '../session.ts'
import { sqlBadgeCatalogue } from './badge-catalogue.ts'
import { sqlBlocks } from './blocks.ts'
import { EventLog } from './event-log.ts'
import { sqlEvents } from './events.ts'
import { sqlIssueImports } from './issue-imports.ts'
import { Heads } from './locks.ts'
import { sqlPinBoards } from './pin-boards.ts'
import type { SqlStore } from './removals.ts'
import { sqlRetirement } from './retirement.ts'
import { sqlUserBadges } from './user-badges.ts'

/** The part of a storage that is the same for every SQL database. */
export type SqlStores<Tx> = AggregateStores<Tx> & Pick<ForgeStorage<Tx>, 'events' | 'retire'>

/** Every store of aggregates. Each says what it removes with a retired thing. */
type AllStores<Tx> = { readonly [S in keyof AggregateStores<Tx>]: SqlStore<AggregateStores<Tx>[S]> }

/** Creates the stores of an SQL storage on the connections that it uses. */
export function createSqlStores<Tx>(context: SqlContext, runtime: SqlRuntime<Tx>): SqlStores<Tx> {
  const parts = { context, runtime, heads: new Heads(context), log: new EventLog(context) }

  const stores: AllStores<Tx> = {
    pinBoards: sqlPinBoards(parts),
    blocks: sqlBlocks(parts),
    userBadges: sqlUserBadges(parts),
    badgeCatalogue: sqlBadgeCatalogue(parts),
    issueImports: sqlIssueImports(parts),
  }

  return {
    pinBoards: stores.pinBoards.store,
    blocks: stores.blocks.store,
    userBadges: stores.userBadges.store,
    badgeCatalogue: stores.badgeCatalogue.store,
    issueImports: stores.issueImports.store,
    events: sqlEvents(parts),
    retire: sqlRetirement(parts, Object.values(stores)),
  }
}
