import type { BadgeService } from './badges/badge-service.ts'
import { badgeService } from './badges/badge-service.ts'
import type { BlockService } from './blocks/block-service.ts'
import { blockService } from './blocks/block-service.ts'
import type { AsyncScope, MaybeAsync, Scope, Sync, SyncScope } from './call.ts'
import type { EventService } from './events/event-service.ts'
import type { ExchangeService } from './exchange/exchange-service.ts'
import { exchangeService } from './exchange/exchange-service.ts'
import type { LifecycleService } from './lifecycle/lifecycle-service.ts'
import { lifecycleService } from './lifecycle/lifecycle-service.ts'
import type { PinService } from './pins/pin-service.ts'
import { pinService } from './pins/pin-service.ts'
import type { Actor } from './ports.ts'
import type { SigningKeyService } from './signing-keys/signing-key-service.ts'
import { signingKeyService } from './signing-keys/signing-key-service.ts'

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
  readonly exchange: Pick<ExchangeService<A>, 'import' | 'inspect' | 'reattribute'>
}

/** Creates the services of a scope. A service method returns what the scope's `run` returns. */
export function servicesIn(scope: AsyncScope): TransactionServices<Actor>
export function servicesIn(scope: SyncScope): Sync<TransactionServices<Actor>>
export function servicesIn(scope: Scope): MaybeAsync<TransactionServices<Actor>>
// The overloads state what a type parameter cannot: which view of the services belongs to which scope.
export function servicesIn(scope: Scope): object {
  const services: MaybeAsync<TransactionServices<Actor>> = {
    pins: pinService(scope),
    blocks: blockService(scope),
    badges: badgeService(scope),
    signingKeys: signingKeyService(scope),
    exchange: exchangeService(scope),
    lifecycle: lifecycleService(scope),
  }
  return services
}
