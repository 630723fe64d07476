export type { UserBadges } from './core/badges/badge-rules.ts'
export { grantBadges, revokeBadges } from './core/badges/badge-rules.ts'
export type { BadgeService } from './core/badges/badge-service.ts'
export type { BadgeDefinition, CatalogueEntry } from './core/badges/catalogue-rules.ts'
export { defineBadge, removeBadge, updateBadge } from './core/badges/catalogue-rules.ts'
export type { BadgeCatalogueService } from './core/badges/catalogue-service.ts'
export type { Blocker, PossibleBlockers } from './core/blocks/block-inputs.ts'
export type { BlockTarget } from './core/blocks/block-rules.ts'
export { blockUser, refuseOrganization, refuseTarget, unblockUser } from './core/blocks/block-rules.ts'
export type { BlockService } from './core/blocks/block-service.ts'
export type { MaybeAsync, Sync } from './core/call.ts'
export { createForge } from './core/create-forge.ts'
export type { ConsumeOptions, EventListFilter, EventService } from './core/events/event-service.ts'
export type { EventHandler } from './core/events/outbox-consumer.ts'
export type { ExchangeService } from './core/exchange/exchange-service.ts'
export type { ImportCounts, ImportReport, InspectReport, NamedPeople } from './core/exchange/import-report.ts'
export type { ImportOptions, ImportRequest } from './core/exchange/import-run.ts'
export type {
  Attribution,
  CommentUpdate,
  ForeignUser,
  IncomingBatch,
  IncomingComment,
  IncomingIssue,
  IssueQuery,
  IssueTracker,
  NamedPerson,
  TakenNumber,
} from './core/exchange/issue-tracker.ts'
export type {
  AttributionCounts,
  ReattributedPerson,
  ReattributeReport,
  ReattributeRequest,
} from './core/exchange/reattribute.ts'
export type {
  Forge,
  ForgeLimits,
  ForgeMethods,
  ForgeOptions,
  ForgeSettings,
  KnowsMembers,
  TransactionResult,
} from './core/forge.ts'
export type { ObservedOperation } from './core/instrument-storage.ts'
export { assertNotBlocked, retirementEvent } from './core/lifecycle/lifecycle-rules.ts'
export type { LifecycleService } from './core/lifecycle/lifecycle-service.ts'
export type { ObservedRequest, Observer } from './core/observer.ts'
export type { BoardPosition } from './core/pins/pin-rules.ts'
export { DEFAULT_MAX_PINS, movePin, pinIssue, unpinIssue } from './core/pins/pin-rules.ts'
export type { PinService } from './core/pins/pin-service.ts'
export type { OrganizationRole, RepositoryRole, Roles } from './core/policy.ts'
export { rolePolicy } from './core/policy.ts'
export type {
  Actor,
  Caller,
  CallOptions,
  Logger,
  Membership,
  Policy,
  PortContext,
  SigningKeyContext,
  SigningKeySource,
} from './core/ports.ts'
export type {
  ChosenServices,
  ServiceKey,
  ServiceName,
  Services,
  ServicesInTransaction,
  TransactionServices,
} from './core/services.ts'
export type { SigningKeyService } from './core/signing-keys/signing-key-service.ts'
export { publishedKey } from './core/signing-keys/signing-key-service.ts'
export type { StorageWithMembers } from './core/table-roles.ts'
export { tableRoles } from './core/table-roles.ts'
export type {
  ErrorCode,
  ForgeErrorCode,
  ForgeErrorConstructor,
  ForgeErrorDetails,
  ForgeErrorOf,
  ForgeErrorRest,
  WireCode,
} from './schema/errors.ts'
export { ForgeError, isForgeError } from './schema/errors.ts'
export type { Id, IdInput } from './schema/ids.ts'
export { toId } from './schema/ids.ts'
export type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  NotCarried,
  ReactionRecord,
  RecordLocator,
  SourcePosition,
} from './schema/issue-record.ts'
export type { CursorPage, Page, PageRequest } from './schema/paging.ts'
export type {
  AccessDecision,
  AccessRequest,
  AccountRef,
  Action,
  Badge,
  BadgeAccess,
  BadgeEvents,
  BadgeHolder,
  Block,
  BlockAccess,
  BlockEvents,
  BlockFacts,
  Decision,
  EventDraft,
  EventSubject,
  ExchangeAccess,
  ExchangeEvents,
  ForgeEvent,
  ForgeEventData,
  ForgeEventType,
  Grant,
  HostThing,
  IssueRef,
  OrganizationBlock,
  Pin,
  PinAccess,
  PinEvents,
  PinKind,
  PublicKey,
  RuleEvent,
  SigningKeyAccess,
  SigningKeyFormat,
  UserBlock,
} from './schema/records.ts'
export type { MaybePromise } from './schema/sync-or-async.ts'
export type { Violation } from './schema/violation.ts'
