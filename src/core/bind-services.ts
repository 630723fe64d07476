import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { runAsync, runMaybeAsync, runSync } from '../schema/sync-or-async.ts'
import { BadgeServiceMethods } from './badges/badge-service.ts'
import { CatalogueServiceMethods } from './badges/catalogue-service.ts'
import { BlockServiceMethods } from './blocks/block-service.ts'
import type { OpenCall } from './call.ts'
import type { Environment } from './environment.ts'
import { LifecycleServiceMethods } from './lifecycle/lifecycle-service.ts'
import { PinServiceMethods } from './pins/pin-service.ts'
import type { Actor } from './ports.ts'
import type {
  BadgeService,
  BlockService,
  LifecycleService,
  MaybeAsync,
  PinService,
  SigningKeyService,
  Sync,
  TransactionServices,
} from './services.ts'
import { SigningKeyServiceMethods } from './signing-keys/signing-key-service.ts'

/** Runs an operation as a promise: the services as hosts know them. */
export type PerformLater = <T>(steps: SyncOrAsync<T>) => Promise<T>

/** Runs an operation at once: the services inside a synchronous transaction. */
export type PerformNow = <T>(steps: SyncOrAsync<T>) => T

/** Runs an operation at once where nothing is asynchronous: the operations behind the services. */
export type Perform = <T>(steps: SyncOrAsync<T>) => MaybePromise<T>

/** One service, in each of the ways it can be called. */
export interface ServiceBinder<Service, A extends Actor, Tx> {
  (open: OpenCall<A, Tx>, perform: PerformLater): Service
  (open: OpenCall<A, Tx>, perform: PerformNow): Sync<Service>
  (open: OpenCall<A, Tx>, perform: Perform): MaybeAsync<Service>
}

/** Makes the face of a service out of its methods, written once: each opens a call and performs its operation. */
function bindService<Service, A extends Actor, Tx>(
  methods: (open: OpenCall<A, Tx>, perform: Perform) => MaybeAsync<Service>,
): ServiceBinder<Service, A, Tx> {
  function turn(open: OpenCall<A, Tx>, perform: PerformLater): Service
  function turn(open: OpenCall<A, Tx>, perform: PerformNow): Sync<Service>
  function turn(open: OpenCall<A, Tx>, perform: Perform): MaybeAsync<Service>
  // A method answers as `perform` does; the overloads say so, since a type cannot.
  function turn(open: OpenCall<A, Tx>, perform: Perform): Service | Sync<Service> | MaybeAsync<Service> {
    return methods(open, perform)
  }
  return turn
}

/** The pin service over its operations. */
function pinService<A extends Actor, Tx>(pins: PinServiceMethods<A, Tx>): ServiceBinder<PinService<A>, A, Tx> {
  return bindService<PinService<A>, A, Tx>((open, perform) => ({
    pin: (actor, issue, options) => perform(pins.pin(open(actor, options), issue)),
    unpin: (actor, issue, options) => perform(pins.unpin(open(actor, options), issue)),
    move: (actor, issue, position, options) => perform(pins.move(open(actor, options), issue, position)),
    list: (actor, board, options) => perform(pins.list(open(actor, options), board)),
    allowed: (actor, repositoryId, options) => perform(pins.allowed(open(actor, options), repositoryId)),
    history: (actor, issue, options) => perform(pins.history(open(actor, options), issue)),
  }))
}

/** The block service over its operations. */
function blockService<A extends Actor, Tx>(blocks: BlockServiceMethods<A, Tx>): ServiceBinder<BlockService<A>, A, Tx> {
  return bindService<BlockService<A>, A, Tx>((open, perform) => ({
    block: (actor, target, options) => perform(blocks.block(open(actor, options), target)),
    unblock: (actor, target, options) => perform(blocks.unblock(open(actor, options), target)),
    find: (actor, target, options) => perform(blocks.find(open(actor, options), target)),
    list: (actor, organizationId, page, options) => perform(blocks.list(open(actor, options), organizationId, page)),
    filterBlocked: (organizationId, userIds) =>
      perform(blocks.blockedAmong(open('system', undefined), organizationId, userIds)),
  }))
}

/** The badge service, and the catalogue's in it, over their operations. */
function badgeService<A extends Actor, Tx>(
  badges: BadgeServiceMethods<A, Tx>,
  catalogue: CatalogueServiceMethods<A, Tx>,
): ServiceBinder<BadgeService<A>, A, Tx> {
  return bindService<BadgeService<A>, A, Tx>((open, perform) => ({
    grant: (actor, userId, slugs, options) => perform(badges.grant(open(actor, options), userId, slugs)),
    revoke: (actor, userId, slugs, options) => perform(badges.revoke(open(actor, options), userId, slugs)),
    heldBy: (actor, userId, options) => perform(badges.heldBy(open(actor, options), userId)),
    catalogue: {
      define: (actor, badge, options) => perform(catalogue.define(open(actor, options), badge)),
      update: (actor, slug, change, options) => perform(catalogue.update(open(actor, options), slug, change)),
      remove: (actor, slug, options) => perform(catalogue.remove(open(actor, options), slug)),
      find: (actor, slug, options) => perform(catalogue.find(open(actor, options), slug)),
      list: (actor, page, options) => perform(catalogue.list(open(actor, options), page)),
    },
  }))
}

/** The lifecycle service over its operations; it is always the host itself that calls. */
function lifecycleService<A extends Actor, Tx>(
  lifecycle: LifecycleServiceMethods<A, Tx>,
): ServiceBinder<LifecycleService, A, Tx> {
  return bindService<LifecycleService, A, Tx>((open, perform) => ({
    userDeleted: (userId) => perform(lifecycle.userDeleted(open('system', undefined), userId)),
    organizationDeleted: (organizationId) =>
      perform(lifecycle.organizationDeleted(open('system', undefined), organizationId)),
    repositoryDeleted: (repositoryId) => perform(lifecycle.repositoryDeleted(open('system', undefined), repositoryId)),
    issueDeleted: (issue) => perform(lifecycle.issueDeleted(open('system', undefined), issue)),
    memberAdded: (member) => perform(lifecycle.memberAdded(open('system', undefined), member)),
  }))
}

/** The signing-key service over its operations. */
function signingKeyService<A extends Actor, Tx>(
  signingKeys: SigningKeyServiceMethods<A, Tx>,
): ServiceBinder<SigningKeyService<A>, A, Tx> {
  return bindService<SigningKeyService<A>, A, Tx>((open, perform) => ({
    publicKey: (actor, request, options) => perform(signingKeys.publicKey(open(actor, options), request)),
  }))
}

/** The operations of one forge, and the three ways to call them. */
export interface BoundServices<A extends Actor, Tx> {
  /** As promises; `perform` says when. */
  later(open: OpenCall<A, Tx>, perform?: PerformLater): TransactionServices<A>
  /** At once; a promise met on the way is a TypeError. */
  now(open: OpenCall<A, Tx>): Sync<TransactionServices<A>>
  /** At once where nothing is asynchronous. */
  prompt(open: OpenCall<A, Tx>): MaybeAsync<TransactionServices<A>>
}

/** Builds every feature once, over one environment. */
export function bindServices<A extends Actor, Tx>(environment: Environment<A, Tx>): BoundServices<A, Tx> {
  const pins = pinService(new PinServiceMethods(environment))
  const blocks = blockService(new BlockServiceMethods(environment))
  const badges = badgeService(new BadgeServiceMethods(environment), new CatalogueServiceMethods(environment))
  const signingKeys = signingKeyService(new SigningKeyServiceMethods(environment))
  const lifecycle = lifecycleService(new LifecycleServiceMethods(environment))

  return {
    later: (open, perform = runAsync) => ({
      pins: pins(open, perform),
      blocks: blocks(open, perform),
      badges: badges(open, perform),
      signingKeys: signingKeys(open, perform),
      lifecycle: lifecycle(open, perform),
    }),
    now: (open) => ({
      pins: pins(open, runSync),
      blocks: blocks(open, runSync),
      badges: badges(open, runSync),
      signingKeys: signingKeys(open, runSync),
      lifecycle: lifecycle(open, runSync),
    }),
    prompt: (open) => ({
      pins: pins(open, runMaybeAsync),
      blocks: blocks(open, runMaybeAsync),
      badges: badges(open, runMaybeAsync),
      signingKeys: signingKeys(open, runMaybeAsync),
      lifecycle: lifecycle(open, runMaybeAsync),
    }),
  }
}
