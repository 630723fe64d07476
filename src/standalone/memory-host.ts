import type { Forge, ForgeOptions, Policy } from '../index.ts'
import { createForge } from '../index.ts'
import { memoryStorage } from '../storage/memory.ts'
import type { Seed } from './fixture/seed.ts'
import { forgeSeedCalls } from './fixture/write-forge-seed.ts'
import type { StandaloneUser } from './host-ports.ts'
import { hostMembership, hostPolicy } from './host-ports.ts'
import { MemoryHostStore } from './host-store/memory-host-store.ts'

/** An in-memory host. */
export interface MemoryHost {
  readonly forge: Forge<StandaloneUser>
  readonly store: MemoryHostStore
}

/** The options of an in-memory host. */
export interface MemoryHostOptions
  extends Pick<
    ForgeOptions<StandaloneUser, undefined>,
    'beforeCommit' | 'clock' | 'issues' | 'limits' | 'logger' | 'signingKey'
  > {
  /** Replaces or wraps Gitea's rules. */
  readonly policy?: ((ordinary: Policy<StandaloneUser>) => Policy<StandaloneUser>) | undefined
}

/**
 * Creates an in-memory host and loads a seed into it. It needs no file and no native dependency, and its data ends with
 * the process.
 */
export async function openMemoryHost(seed: Seed, options: MemoryHostOptions = {}): Promise<MemoryHost> {
  const { policy = (ordinary) => ordinary, beforeCommit, ...others } = options
  let isLoaded = false
  const store = new MemoryHostStore()
  store.load(seed)
  const forge = createForge<StandaloneUser, undefined>({
    ...others,
    storage: memoryStorage(),
    policy: policy(hostPolicy(store)),
    membership: hostMembership(store),
    // The seed is not a change that the host makes.
    beforeCommit: beforeCommit && ((events, transaction) => (isLoaded ? beforeCommit(events, transaction) : undefined)),
  })

  for (const call of forgeSeedCalls(seed)) await call(forge)
  isLoaded = true
  return { forge, store }
}
