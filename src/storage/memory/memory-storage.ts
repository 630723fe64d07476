import type { ForgeStorage } from '../contract/storage.ts'
import type { AggregateStores } from '../contract/stores.ts'
import { memoryBadgeCatalogue } from './badge-catalogue.ts'
import { memoryBlocks } from './blocks.ts'
import { memoryEvents } from './events.ts'
import { memoryIssueImports } from './issue-imports.ts'
import { MemoryTables } from './memory-tables.ts'
import { memoryPinBoards } from './pin-boards.ts'
import type { MemoryStore } from './retirement.ts'
import { retire } from './retirement.ts'
import { memoryUserBadges } from './user-badges.ts'

/** Every store of aggregates. Each says what it removes with a retired thing. */
type MemoryStores = { readonly [S in keyof AggregateStores<undefined>]: MemoryStore<AggregateStores<undefined>[S]> }

/** Creates a storage on plain tables in memory: the reference that the other storages are compared with. */
export function createMemoryStorage(): ForgeStorage<undefined> {
  const tables = new MemoryTables()
  const stores: MemoryStores = {
    pinBoards: memoryPinBoards(tables),
    blocks: memoryBlocks(tables),
    userBadges: memoryUserBadges(tables),
    badgeCatalogue: memoryBadgeCatalogue(tables),
    issueImports: memoryIssueImports(tables),
  }

  return {
    pinBoards: stores.pinBoards.store,
    blocks: stores.blocks.store,
    userBadges: stores.userBadges.store,
    badgeCatalogue: stores.badgeCatalogue.store,
    issueImports: stores.issueImports.store,
    events: memoryEvents(tables),
    retire: (retirement) => retire(tables, Object.values(stores), retirement),
    transactions: 'none',
    checkTransaction() {
      throw new TypeError('memory storage has no transactions')
    },
    migrate: async () => undefined,
    schemaStatus: async () => ({ state: 'current', warnings: [] }),
    close: async () => tables.close(),
  }
}
