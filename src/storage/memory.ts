import { refuseUnknown } from '../schema/options.ts'
import type { ForgeStorage } from './contract/storage.ts'
import { memoryAggregates } from './memory/aggregates.ts'
import { memoryEvents } from './memory/events.ts'
import { Memory } from './memory/tables.ts'

/**
 * Keeps everything in memory, for tests and throw-away servers. It answers synchronously, supports no host
 * transactions, and loses everything with the process. A `beforeCommit` that returns a promise is a `TypeError`.
 */
export function memoryStorage(): ForgeStorage<undefined>
export function memoryStorage(options?: unknown): ForgeStorage<undefined> {
  refuseUnknown('memoryStorage', options, {})
  const memory = new Memory()

  return {
    ...memoryAggregates(memory),
    events: memoryEvents(memory),
    retire: (retirement) => memory.retire(retirement),
    transactions: 'none',
    checkTransaction() {
      throw new TypeError('memory storage has no transactions')
    },
    migrate: async () => undefined,
    schemaStatus: async () => ({ state: 'current', warnings: [] }),
    close: async () => memory.close(),
  }
}
