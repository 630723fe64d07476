import type { ForgeStorage } from './contract/storage.ts'
import { createMemoryStorage } from './memory/memory-storage.ts'

/**
 * Keeps everything in memory, for tests and throw-away servers. It answers at once, has no transactions to join, and
 * forgets everything with the process. A `beforeCommit` that answers with a promise is a `TypeError`.
 */
export function memoryStorage(): ForgeStorage<undefined> {
  return createMemoryStorage()
}
