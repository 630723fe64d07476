import type { MaybePromise, Steps } from '../schema/sync-or-async.ts'
import { run, runLater, runNow } from '../schema/sync-or-async.ts'
import { BadgeOperations } from './badges/badge-service.ts'
import { CatalogueOperations } from './badges/catalogue-service.ts'
import { BlockOperations } from './blocks/block-service.ts'
import type { OpenCall } from './call.ts'
import type { Environment } from './environment.ts'
import { LifecycleOperations } from './lifecycle/lifecycle-service.ts'
import { PinOperations } from './pins/pin-service.ts'
import type { Actor } from './ports.ts'
import type {
  BadgeService,
  BlockService,
  JoinedServices,
  LifecycleService,
  PinService,
  Prompt,
  SigningKeyService,
  Synchronous,
} from './services.ts'
import { SigningKeyOperations } from './signing-keys/signing-key-service.ts'

/** Runs an operation as a promise: the services as hosts know them. */
export type PerformLater = <T>(steps: Steps<T>) => Promise<T>

/** Runs an operation at once: the services inside a synchronous transaction. */
export type PerformNow = <T>(steps: Steps<T>) => T

/** Runs an operation at once where nothing is asynchronous: the operations behind the services. */
export type Perform = <T>(steps: Steps<T>) => MaybePromise<T>

/** One service, in each of the ways it can be called. */
export interface Face<Service, A extends Actor, Tx> {
  (open: OpenCall<A, Tx>, perform: PerformLater): Service
  (open: OpenCall<A, Tx>, perform: PerformNow): Synchronous<Service>
  (open: OpenCall<A, Tx>, perform: Perform): Prompt<Service>
}

/** Makes the face of a service out of its methods, written once: each opens a call and performs its operation. */
function face<Service, A extends Actor, Tx>(
  methods: (open: OpenCall<A, Tx>, perform: Perform) => Prompt<Service>,
): Face<Service, A, Tx> {
  function turn(open: OpenCall<A, Tx>, perform: PerformLater): Service
  function turn(open: OpenCall<A, Tx>, perform: PerformNow): Synchronous<Service>
  function turn(open: OpenCall<A, Tx>, perform: Perform): Prompt<Service>
  // A method answers as `perform` does; the overloads say so, since a type cannot.
  function turn(open: OpenCall<A, Tx>, perform: Perform): Service | Synchronous<Service> | Prompt<Service> {
    return methods(open, perform)
  }
  return turn
}

/** The pin service over its operations. */
function pinService<A extends Actor, Tx>(pins: PinOperations<A, Tx>): Face<PinService<A>, A, Tx> {
  return face<PinService<A>, A, Tx>((open, perform) => ({
    pin: (actor, issue, options) => perform(pins.pin(open(actor, options), issue)),
    unpin: (actor, issue, options) => perform(pins.unpin(open(actor, options), issue)),
    move: (actor, issue, position, options) => perform(pins.move(open(actor, options), issue, position)),
    list: (actor, board, options) => perform(pins.list(open(actor, options), board)),
    allowed: (actor, repositoryId, options) => perform(pins.allowed(open(actor, options), repositoryId)),
    history: (actor, issue, options) => perform(pins.history(open(actor, options), issue)),
  }))
}

/** The block service over its operations. */
function blockService<A extends Actor, Tx>(blocks: BlockOperations<A, Tx>): Face<BlockService<A>, A, Tx> {
  return face<BlockService<A>, A, Tx>((open, perform) => ({
    block: (actor, target, options) => perform(blocks.block(open(actor, options), target)),
    unblock: (actor, target, options) => perform(blocks.unblock(open(actor, options), target)),
    find: (actor, target, options) => perform(blocks.find(open(actor, options), target)),
    list: (actor, organizationId, page, options) => perform(blocks.list(open(actor, options), organizationId, page)),
    blockedAmong: (organizationId, userIds) =>
      perform(blocks.blockedAmong(open('system', undefined), organizationId, userIds)),
  }))
}

/** The badge service, and the catalogue's in it, over their operations. */
function badgeService<A extends Actor, Tx>(
  badges: BadgeOperations<A, Tx>,
  catalogue: CatalogueOperations<A, Tx>,
): Face<BadgeService<A>, A, Tx> {
  return face<BadgeService<A>, A, Tx>((open, perform) => ({
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
function lifecycleService<A extends Actor, Tx>(lifecycle: LifecycleOperations<A, Tx>): Face<LifecycleService, A, Tx> {
  return face<LifecycleService, A, Tx>((open, perform) => ({
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
  signingKeys: SigningKeyOperations<A, Tx>,
): Face<SigningKeyService<A>, A, Tx> {
  return face<SigningKeyService<A>, A, Tx>((open, perform) => ({
    publicKey: (actor, request, options) => perform(signingKeys.publicKey(open(actor, options), request)),
  }))
}

/** The operations of one forge, and the three ways to call them. */
export interface ServiceRooms<A extends Actor, Tx> {
  /** As promises; `perform` says when. */
  later(open: OpenCall<A, Tx>, perform?: PerformLater): JoinedServices<A>
  /** At once; a promise met on the way is a TypeError. */
  now(open: OpenCall<A, Tx>): Synchronous<JoinedServices<A>>
  /** At once where nothing is asynchronous. */
  prompt(open: OpenCall<A, Tx>): Prompt<JoinedServices<A>>
}

/** Builds every feature once, over one environment. */
export function serviceRooms<A extends Actor, Tx>(environment: Environment<A, Tx>): ServiceRooms<A, Tx> {
  const pins = pinService(new PinOperations(environment))
  const blocks = blockService(new BlockOperations(environment))
  const badges = badgeService(new BadgeOperations(environment), new CatalogueOperations(environment))
  const signingKeys = signingKeyService(new SigningKeyOperations(environment))
  const lifecycle = lifecycleService(new LifecycleOperations(environment))

  return {
    later: (open, perform = runLater) => ({
      pins: pins(open, perform),
      blocks: blocks(open, perform),
      badges: badges(open, perform),
      signingKeys: signingKeys(open, perform),
      lifecycle: lifecycle(open, perform),
    }),
    now: (open) => ({
      pins: pins(open, runNow),
      blocks: blocks(open, runNow),
      badges: badges(open, runNow),
      signingKeys: signingKeys(open, runNow),
      lifecycle: lifecycle(open, runNow),
    }),
    prompt: (open) => ({
      pins: pins(open, run),
      blocks: blocks(open, run),
      badges: badges(open, run),
      signingKeys: signingKeys(open, run),
      lifecycle: lifecycle(open, run),
    }),
  }
}
