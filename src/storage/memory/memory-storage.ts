import type { ForgeStorage } from '../contract/storage.ts'
import { memoryAggregates, retire } from './aggregates.ts'
import { memoryEvents } from './events.ts'
import { Memory } from './tables.ts'

/** Creates a storage on plain lists in memory: the reference that the other storages are compared with. */
export function createMemoryStorage(): ForgeStorage<undefined> {
  const memory = new Memory()

  return {
    ...memoryAggregates(memory),
    events: memoryEvents(memory),
    retire: (retirement) => retire(memory, retirement),
    transactions: 'none',
    checkTransaction() {
      throw new TypeError('memory storage has no transactions')
    },
    migrate: async () => undefined,
    schemaStatus: async () => ({ state: 'current', warnings: [] }),
    close: async () => memory.close(),
  }
}
