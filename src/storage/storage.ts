// "forgelet/storage": the types of the storage contract, for authors of storages. All of the contract is public. The
// types that it refers to come from "forgelet".

export type * from './contract/events.ts'
export type * from './contract/storage.ts'
export type * from './contract/stores.ts'
export type { HostTransaction } from './sql/servers/host-transaction.ts'
