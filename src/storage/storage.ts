// "forgelet/storage": the types of the storage contract, for authors of storages. The types they refer to come from
// "forgelet".

export type { Claim, Consumer, EventFilter, EventStore } from './contract/events.ts'
export type { ForgeStorage, Removed, Retired, Retirement, SchemaStatus } from './contract/storage.ts'
export type {
  AggregateStore,
  Authorship,
  BadgeCatalogueKey,
  BadgeCatalogueState,
  BadgeCatalogueStore,
  BeforeCommit,
  BlockKey,
  BlockStore,
  Change,
  Outcome,
  PageQuery,
  PinBoardKey,
  PinBoardStore,
  PinRow,
  UserBadgesKey,
  UserBadgesState,
  UserBadgesStore,
  WriteContext,
} from './contract/stores.ts'
