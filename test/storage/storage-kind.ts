import { memoryStorage } from '../../src/storage/memory.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { ContractHost } from '../../src/testing/testing.ts'
import type { DatabaseKind, Host, Level, Place } from '../databases.ts'
import { EmptyDatabases } from '../databases.ts'

/** A kind of storage, as the contract is run on it. */
export interface StorageKind<Tx> {
  readonly name: string
  /** Gives a fresh storage, migrated and empty. */
  open(): Promise<ForgeStorage<Tx>>
  readonly host: ContractHost<Tx>
  /** Removes every database that was made. */
  end(): Promise<void>
}

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** Storages in memory: there is nothing to share, and no transaction of a host. */
export function memoryKind(): StorageKind<undefined> {
  const open = async () => memoryStorage()
  return { name: 'memory', open, host: { textIds: open }, end: async () => undefined }
}

/** The storages of a kind of database. */
export function storageKind<Tx>(kind: DatabaseKind<Tx>): StorageKind<Tx> {
  const databases = new EmptyDatabases(kind)
  /** Where each storage is, and the host that opened it. */
  const opened = new WeakMap<ForgeStorage<Tx>, { readonly place: Place<Tx>; readonly host: Host<Tx> }>()

  const fresh = async (options?: typeof TEXT_IDS) => {
    const [place, storage] = await databases.taken(options)
    opened.set(storage, { place, host: place.host })
    return storage
  }
  const openedAs = (storage: ForgeStorage<Tx>) => {
    const found = opened.get(storage)
    if (found === undefined) throw new TypeError('the storage is not of this kind')
    return found
  }
  const again = async (one: ForgeStorage<Tx>) => {
    const { place } = openedAs(one)
    const host = await kind.open(place.url)
    const storage = await databases.storage(place, undefined, host)
    opened.set(storage, { place, host })
    return storage
  }
  const begin = (level?: Level) => async (storage: ForgeStorage<Tx>) => openedAs(storage).host.begin(level)

  return {
    name: kind.name,
    open: () => fresh(),
    host: {
      async beside(one) {
        const { place, host } = openedAs(one)
        const storage = await databases.storage(place, { prefix: 'beside_' }, host)
        opened.set(storage, { place, host })
        return storage
      },
      begin: begin(),
      textIds: () => fresh(TEXT_IDS),
      ...(kind.isShared && { again }),
      ...(kind.levels.includes('snapshot') && { beginSnapshot: begin('snapshot') }),
      ...(kind.levels.includes('read committed') && { beginReadCommitted: begin('read committed') }),
    },
    end: () => databases.end(),
  }
}
