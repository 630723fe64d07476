import type { Forge, ForgeOptions, Policy } from '../index.ts'
import { createForge } from '../index.ts'
import { memoryStorage } from '../storage/memory.ts'
import type { Census } from './census.ts'
import { forgeDeeds } from './forge-deeds.ts'
import type { StandaloneUser } from './host-ports.ts'
import { rosterMembership, rosterPolicy } from './host-ports.ts'
import { MemoryRoster } from './roster/memory-roster.ts'

/** A host in plain memory. */
export interface MemoryHost {
  readonly forge: Forge<StandaloneUser>
  readonly roster: MemoryRoster
}

/** How a host in memory differs from the ordinary. */
export interface MemoryHostOptions
  extends Pick<ForgeOptions<StandaloneUser, undefined>, 'clock' | 'limits' | 'signingKey'> {
  /** Takes the place of Gitea's rules, or wraps them. */
  readonly policy?: ((ordinary: Policy<StandaloneUser>) => Policy<StandaloneUser>) | undefined
}

/** Makes a whole host in memory and lets everyone in a census move in: no file, no native dependency, gone with the process. */
export async function openMemoryHost(census: Census, options: MemoryHostOptions = {}): Promise<MemoryHost> {
  const { policy = (ordinary) => ordinary, ...others } = options
  const roster = new MemoryRoster()
  roster.settle(census)
  const forge = createForge({
    ...others,
    storage: memoryStorage(),
    policy: policy(rosterPolicy(roster)),
    membership: rosterMembership(roster),
  })

  for (const deed of forgeDeeds(census)) await deed(forge)
  return { forge, roster }
}
