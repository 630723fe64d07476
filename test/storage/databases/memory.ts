import { memoryStorage } from '../../../src/storage/memory.ts'
import type { StorageKind } from './storage-kind.ts'

/** Storages in memory: there is nothing to share, and no transaction of a host. */
export function memoryKind(): StorageKind<undefined> {
  const open = async () => memoryStorage()
  return { name: 'memory', open, host: { textIds: open }, end: async () => undefined }
}
