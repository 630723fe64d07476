import type { ForgeStorage } from '../contract/forge-storage.ts'
import { memoryBadgeCases } from './badge-case-store.ts'
import { memoryBadgeCatalogue } from './badge-catalogue-store.ts'
import { memoryBlocks } from './block-store.ts'
import { memoryEvents } from './event-store.ts'
import { MemoryTables } from './memory-tables.ts'
import { memoryPinBoards } from './pin-board-store.ts'
import { retire } from './retirement.ts'

/** Makes a storage over plain tables in memory: the reference the other storages are compared with. */
export function createMemoryStorage(): ForgeStorage<undefined> {
  const tables = new MemoryTables()

  return {
    pinBoards: memoryPinBoards(tables),
    blocks: memoryBlocks(tables),
    badgeCases: memoryBadgeCases(tables),
    badgeCatalogue: memoryBadgeCatalogue(tables),
    events: memoryEvents(tables),
    retire: (retirement) => retire(tables, retirement),
    transactions: 'none',
    enter() {
      throw new TypeError('memory storage has no transactions to join')
    },
    migrate: async () => undefined,
    schemaStatus: async () => ({ state: 'current', warnings: [] }),
    close: async () => tables.close(),
  }
}
