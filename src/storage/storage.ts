// "forgelet/storage": the contract's types, for people who write a storage. The words they are made of come from "forgelet".

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
