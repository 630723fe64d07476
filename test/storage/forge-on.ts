import type { Forge, ForgeOptions } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { Person } from '../core/a-forge.ts'

/** A forge on a storage, whose policy allows everything and whose organizations have no members, but for what is given. */
export function forgeOn<Tx>(
  storage: ForgeStorage<Tx>,
  options: Partial<Omit<ForgeOptions<Person, Tx>, 'storage'>> = {},
): Forge<Person, Tx> {
  return createForge<Person, Tx>({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
    ...options,
  })
}
