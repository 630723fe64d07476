// "forgelet/storage": the contract's types, for people who write a storage. The words they are made of come from "forgelet".

export type {
  AggregateStore,
  Authorship,
  BeforeCommit,
  Change,
  Outcome,
  WriteContext,
} from './contract/aggregate-store.ts'
export type { BadgeCaseKey, BadgeCaseState, BadgeCaseStore } from './contract/badge-case-store.ts'
export type { BadgeCatalogueKey, BadgeCatalogueState, BadgeCatalogueStore } from './contract/badge-catalogue-store.ts'
export type { BlockKey, BlockStore } from './contract/block-store.ts'
export type { Claim, Consumer, EventFilter, EventStore } from './contract/event-store.ts'
export type { ForgeStorage, SchemaStatus } from './contract/forge-storage.ts'
export type { PageQuery } from './contract/page-query.ts'
export type { PinBoardKey, PinBoardStore, PinRow } from './contract/pin-board-store.ts'
export type { Removed, Retired, Retirement } from './contract/retirement.ts'
