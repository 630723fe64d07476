import { refuseUnknown } from '../schema/options.ts'
import type { ForgeStorage } from './contract/storage.ts'
import { createMemoryStorage } from './memory/memory-storage.ts'

/**
 * Keeps everything in memory, for tests and throw-away servers. It answers synchronously, supports no host
 * transactions, and loses everything with the process. A `beforeCommit` that returns a promise is a `TypeError`.
 */
export function memoryStorage(): ForgeStorage<undefined>
export function memoryStorage(options?: unknown): ForgeStorage<undefined> {
  refuseUnknown('memoryStorage', options, {})
  return createMemoryStorage()
}
