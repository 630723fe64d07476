import { run, runLater, runNow } from '../schema/steps.ts'
import { BadgeOperations } from './badges/badge-operations.ts'
import { badgeService } from './badges/badge-service.ts'
import { CatalogueOperations } from './badges/catalogue-operations.ts'
import { BlockOperations } from './blocks/block-operations.ts'
import { blockService } from './blocks/block-service.ts'
import type { OpenCall } from './call.ts'
import type { Environment } from './environment.ts'
import type { PerformLater } from './face.ts'
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
