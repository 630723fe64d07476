export type { OrganizationRole, RepositoryRole, Roles } from './core/access/role-policy.ts'
export { rolePolicy } from './core/access/role-policy.ts'
export type { UserBadges } from './core/badges/badge-rules.ts'
export { grantBadges, revokeBadges } from './core/badges/badge-rules.ts'
export type { BadgeDefinition, CatalogueEntry } from './core/badges/catalogue-rules.ts'
export { defineBadge, removeBadge, updateBadge } from './core/badges/catalogue-rules.ts'
export type { BlockTarget } from './core/blocks/block-rules.ts'
export { blockUser, refuseOrganization, refuseTarget, unblockUser } from './core/blocks/block-rules.ts'
export { createForge } from './core/create-forge.ts'
export type { Forge, ForgeLimits, ForgeOptions, TransactionResult } from './core/forge.ts'
export type { ObservedOperation } from './core/instrument-storage.ts'
export { assertNotBlocked } from './core/lifecycle/lifecycle-rules.ts'
export type { BoardPosition } from './core/pins/pin-rules.ts'
export { movePin, pinIssue, unpinIssue } from './core/pins/pin-rules.ts'
export type {
  Actor,
  Caller,
  CallOptions,
  Logger,
  Membership,
  Policy,
  PortContext,
  SigningKeySource,
} from './core/ports.ts'
export type {
  BadgeCatalogueService,
  BadgeService,
  BlockService,
  ConsumeOptions,
  EventHandler,
  EventListFilter,
  EventService,
  LifecycleService,
  MaybeAsync,
  PinService,
  Services,
  SigningKeyService,
  Sync,
  TransactionServices,
} from './core/services.ts'
export { publishedKey } from './core/signing-keys/signing-key-service.ts'
export type { AccessDecision, AccessRequest, Action } from './schema/access.ts'
export type { Decision } from './schema/decision.ts'
export type {
  ForgeErrorCode,
  ForgeErrorConstructor,
  ForgeErrorDetails,
  ForgeErrorOf,
  ForgeErrorRest,
  Violation,
} from './schema/errors.ts'
export { ForgeError, isForgeError } from './schema/errors.ts'
export type {
  EventDraft,
  EventSubject,
  ForgeEvent,
  ForgeEventData,
  ForgeEventType,
  RuleEvent,
} from './schema/events.ts'
export type { Id, IdInput } from './schema/ids.ts'
export type { Page, PageRequest } from './schema/paging.ts'
export type {
  AccountRef,
  Badge,
  Block,
  Grant,
  IssueRef,
  Pin,
  PinKind,
  PublicKey,
  SigningKeyFormat,
} from './schema/records.ts'
export type { MaybePromise } from './schema/sync-or-async.ts'
