import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { ContractHost } from '../../../src/testing/testing.ts'

/** A kind of storage, as the contract is run on it. */
export interface StorageKind<Tx> {
  readonly name: string
  /** Gives a fresh storage, migrated and empty. */
  open(): Promise<ForgeStorage<Tx>>
  readonly host: ContractHost<Tx>
  /** Removes every database that was made. */
  end(): Promise<void>
}

/** Brings a new storage's tables into being. */
export async function migrated<Tx>(storage: ForgeStorage<Tx>): Promise<ForgeStorage<Tx>> {
  await storage.migrate()
  return storage
}
