import type { MaybePromise } from '../schema/sync-or-async.ts'
import type { BadgeService } from './badges/badge-service.ts'
import { BadgeServiceMethods } from './badges/badge-service.ts'
import { CatalogueServiceMethods } from './badges/catalogue-service.ts'
import type { BlockService } from './blocks/block-service.ts'
import { BlockServiceMethods } from './blocks/block-service.ts'
import type { OpenCall } from './call.ts'
import type { Environment } from './environment.ts'
import type { EventService } from './events/event-service.ts'
import type { ExchangeService } from './exchange/exchange-service.ts'
import { ExchangeServiceMethods } from './exchange/exchange-service.ts'
import type { LifecycleService } from './lifecycle/lifecycle-service.ts'
import { LifecycleServiceMethods } from './lifecycle/lifecycle-service.ts'
import type { PinService } from './pins/pin-service.ts'
import { PinServiceMethods } from './pins/pin-service.ts'
import type { Actor } from './ports.ts'
import type { SigningKeyService } from './signing-keys/signing-key-service.ts'
import { SigningKeyServiceMethods } from './signing-keys/signing-key-service.ts'

/** All services of a forge. */
export interface Services<A extends Actor> {
  readonly pins: PinService<A>
  readonly blocks: BlockService<A>
  readonly badges: BadgeService<A>
  readonly signingKeys: SigningKeyService<A>
  readonly exchange: ExchangeService<A>
  readonly lifecycle: LifecycleService
  readonly events: EventService
}

/** Every service that a host can choose or leave out, with the property of the forge that has it. */
export const SERVICE_KEYS = {
  pins: 'pins',
  blocks: 'blocks',
  badges: 'badges',
  'signing-keys': 'signingKeys',
  exchange: 'exchange',
} as const

/** A service that a host can choose or leave out. */
export type ServiceName = keyof typeof SERVICE_KEYS

/** The property of a forge that has the service of this name. */
export type ServiceKey<S extends ServiceName> = (typeof SERVICE_KEYS)[S]

/** The optional ports that each service needs. */
export type ServicePorts = { readonly [S in ServiceName]: S extends 'blocks' ? 'membership' : never }

/** The services of a forge that has the services `S`. */
export type ChosenServices<A extends Actor, S extends ServiceName> = Pick<
  Services<A>,
  ServiceKey<S> | 'lifecycle' | 'events'
>

/**
 * The services inside the host's transaction: all but `events`, which reads committed data and commits its own changes.
 * `exchange` does not export there: an export is read long after the call.
 */
export type TransactionServices<A extends Actor, S extends ServiceName = ServiceName> = Pick<
  ServicesInTransaction<A>,
  ServiceKey<S> | 'lifecycle'
>

/** All services that a host's transaction can have. */
export interface ServicesInTransaction<A extends Actor> extends Omit<Services<A>, 'events' | 'exchange'> {
  readonly exchange: Pick<ExchangeService<A>, 'import' | 'inspect'>
}

/**
 * Services that return values instead of promises, for synchronous SQLite drivers. If a port returns a promise, the
 * call throws a TypeError before it writes anything.
 */
export type Sync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => infer R ? (...args: P) => Awaited<R> : Sync<T[K]>
}

/** Services that return a value when the ports and the storage do, and a promise otherwise. */
export type MaybeAsync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => Promise<infer R>
    ? (...args: P) => MaybePromise<R>
    : T[K] extends (...args: never) => unknown
      ? T[K]
      : MaybeAsync<T[K]>
}

/** Makes one call of a service method and returns what the host gets: a promise, a value, or what the method returns. */
type Run = <T>(work: () => MaybePromise<T>) => MaybePromise<T>

/** Binds the services to functions that open and run their calls. A service method returns what `run` returns. */
export interface BindServices<A extends Actor, Tx> {
  (open: OpenCall<A, Tx>, run: <T>(work: () => MaybePromise<T>) => Promise<T>): TransactionServices<A>
  (open: OpenCall<A, Tx>, run: <T>(work: () => MaybePromise<T>) => T): Sync<TransactionServices<A>>
  (open: OpenCall<A, Tx>, run: Run): MaybeAsync<TransactionServices<A>>
}

/** Creates the methods of all services for one environment, and returns the function that binds them. */
export function servicesOf<A extends Actor, Tx>(environment: Environment<A, Tx>): BindServices<A, Tx> {
  const pins = new PinServiceMethods(environment)
  const blocks = new BlockServiceMethods(environment)
  const badges = new BadgeServiceMethods(environment)
  const catalogue = new CatalogueServiceMethods(environment)
  const signingKeys = new SigningKeyServiceMethods(environment)
  const exchange = new ExchangeServiceMethods(environment)
  const lifecycle = new LifecycleServiceMethods(environment)

  function bind(open: OpenCall<A, Tx>, run: <T>(work: () => MaybePromise<T>) => Promise<T>): TransactionServices<A>
  function bind(open: OpenCall<A, Tx>, run: <T>(work: () => MaybePromise<T>) => T): Sync<TransactionServices<A>>
  function bind(open: OpenCall<A, Tx>, run: Run): MaybeAsync<TransactionServices<A>>
  // Each method returns what `run` returns. Overloads state this, because a type parameter cannot.
  function bind(
    open: OpenCall<A, Tx>,
    run: Run,
  ): TransactionServices<A> | Sync<TransactionServices<A>> | MaybeAsync<TransactionServices<A>> {
    const services: MaybeAsync<TransactionServices<A>> = {
      pins: {
        pin: (caller, issue, options) => run(() => pins.pin(open(caller, options), issue)),
        unpin: (caller, issue, options) => run(() => pins.unpin(open(caller, options), issue)),
        move: (caller, target, options) => run(() => pins.move(open(caller, options), target)),
        list: (caller, board, options) => run(() => pins.list(open(caller, options), board)),
        allowed: (caller, repositoryId, options) => run(() => pins.allowed(open(caller, options), repositoryId)),
        history: (caller, issue, options) => run(() => pins.history(open(caller, options), issue)),
      },
      blocks: {
        block: (caller, target, options) => run(() => blocks.block(open(caller, options), target)),
        unblock: (caller, target, options) => run(() => blocks.unblock(open(caller, options), target)),
        find: (caller, target, options) => run(() => blocks.find(open(caller, options), target)),
        list: (caller, request, options) => run(() => blocks.list(open(caller, options), request)),
        isBlocked: (target) => run(() => blocks.isBlocked(open('system', undefined), target)),
        filterBlocked: (candidates) => run(() => blocks.filterBlocked(open('system', undefined), candidates)),
      },
      badges: {
        grant: (caller, grants, options) => run(() => badges.grant(open(caller, options), grants)),
        revoke: (caller, grants, options) => run(() => badges.revoke(open(caller, options), grants)),
        heldBy: (caller, userId, options) => run(() => badges.heldBy(open(caller, options), userId)),
        catalogue: {
          define: (caller, badge, options) => run(() => catalogue.define(open(caller, options), badge)),
          update: (caller, change, options) => run(() => catalogue.update(open(caller, options), change)),
          remove: (caller, slug, options) => run(() => catalogue.remove(open(caller, options), slug)),
          find: (caller, slug, options) => run(() => catalogue.find(open(caller, options), slug)),
          list: (caller, page, options) => run(() => catalogue.list(open(caller, options), page)),
        },
      },
      signingKeys: {
        publicKey: (caller, request, options) => run(() => signingKeys.publicKey(open(caller, options), request)),
      },
      exchange: {
        import: (caller, request, options) => run(() => exchange.import(open(caller, options), request, options)),
        inspect: (caller, request, options) => run(() => exchange.inspect(open(caller, options), request, options)),
      },
      lifecycle: {
        userDeleted: (userId) => run(() => lifecycle.userDeleted(open('system', undefined), userId)),
        organizationDeleted: (id) => run(() => lifecycle.organizationDeleted(open('system', undefined), id)),
        repositoryDeleted: (id) => run(() => lifecycle.repositoryDeleted(open('system', undefined), id)),
        issueDeleted: (issue) => run(() => lifecycle.issueDeleted(open('system', undefined), issue)),
        memberAdded: (member) => run(() => lifecycle.memberAdded(open('system', undefined), member)),
      },
    }
    return services
  }

  return bind
}

/** Binds the exports, which return iterables and run outside of a host's transaction. */
export function exportsOf<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  open: OpenCall<A, Tx>,
): Pick<ExchangeService<A>, 'export' | 'exportAll'> {
  const exchange = new ExchangeServiceMethods(environment)
  return {
    export: (caller, repositoryId, options) => exchange.export(open(caller, options), repositoryId),
    exportAll: (caller, repositoryId, options) => exchange.exportAll(open(caller, options), repositoryId),
  }
}
