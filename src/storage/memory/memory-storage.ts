import type { ForgeStorage } from '../contract/storage.ts'
import { memoryBadgeCatalogue } from './badge-catalogue.ts'
import { memoryBlocks } from './blocks.ts'
import { memoryEvents } from './events.ts'
import { MemoryTables } from './memory-tables.ts'
import { memoryPinBoards } from './pin-boards.ts'
import { retire } from './retirement.ts'
import { memoryUserBadges } from './user-badges.ts'

/** Creates a storage on plain tables in memory: the reference that the other storages are compared with. */
export function createMemoryStorage(): ForgeStorage<undefined> {
  const tables = new MemoryTables()

  return {
    pinBoards: memoryPinBoards(tables),
    blocks: memoryBlocks(tables),
    userBadges: memoryUserBadges(tables),
    badgeCatalogue: memoryBadgeCatalogue(tables),
    events: memoryEvents(tables),
    retire: (retirement) => retire(tables, retirement),
    transactions: 'none',
    checkTransaction() {
      throw new TypeError('memory storage has no transactions to join')
    },
    migrate: async () => undefined,
    schemaStatus: async () => ({ state: 'current', warnings: [] }),
    close: async () => tables.close(),
  }
}
