import { run, runLater, runNow } from '../schema/steps.ts'
import { BadgeOperations } from './badges/badge-operations.ts'
import { badgeService } from './badges/badge-service.ts'
import { CatalogueOperations } from './badges/catalogue-operations.ts'
import { BlockOperations } from './blocks/block-operations.ts'
import { blockService } from './blocks/block-service.ts'
import type { OpenCall } from './call.ts'
import type { Environment } from './environment.ts'
import { LifecycleOperations } from './lifecycle/lifecycle-operations.ts'
import { lifecycleService } from './lifecycle/lifecycle-service.ts'
import { PinOperations } from './pins/pin-operations.ts'
import { pinService } from './pins/pin-service.ts'
import type { Actor } from './ports.ts'
import type { JoinedServices, Prompt, Synchronous } from './services.ts'
import { SigningKeyOperations } from './signing-keys/signing-key-operations.ts'
import { signingKeyService } from './signing-keys/signing-key-service.ts'

/** The operations of one forge, and the three ways to call them. */
export interface ServiceRooms<A extends Actor, Tx> {
  /** As promises. */
  later(open: OpenCall<A, Tx>): JoinedServices<A>
  /** At once; a promise met on the way is a TypeError. */
  now(open: OpenCall<A, Tx>): Synchronous<JoinedServices<A>>
  /** At once where nothing is asynchronous. */
  prompt(open: OpenCall<A, Tx>): Prompt<JoinedServices<A>>
}

/** Builds every feature's operations once, over one environment. */
export function serviceRooms<A extends Actor, Tx>(environment: Environment<A, Tx>): ServiceRooms<A, Tx> {
  const pins = new PinOperations(environment)
  const blocks = new BlockOperations(environment)
  const badges = new BadgeOperations(environment)
  const catalogue = new CatalogueOperations(environment)
  const signingKeys = new SigningKeyOperations(environment)
  const lifecycle = new LifecycleOperations(environment)

  return {
    later: (open) => ({
      pins: pinService(pins, open, runLater),
      blocks: blockService(blocks, open, runLater),
      badges: badgeService(badges, catalogue, open, runLater),
      signingKeys: signingKeyService(signingKeys, open, runLater),
      lifecycle: lifecycleService(lifecycle, open, runLater),
    }),
    now: (open) => ({
      pins: pinService(pins, open, runNow),
      blocks: blockService(blocks, open, runNow),
      badges: badgeService(badges, catalogue, open, runNow),
      signingKeys: signingKeyService(signingKeys, open, runNow),
      lifecycle: lifecycleService(lifecycle, open, runNow),
    }),
    prompt: (open) => ({
      pins: pinService(pins, open, run),
      blocks: blockService(blocks, open, run),
      badges: badgeService(badges, catalogue, open, run),
      signingKeys: signingKeyService(signingKeys, open, run),
      lifecycle: lifecycleService(lifecycle, open, run),
    }),
  }
}
