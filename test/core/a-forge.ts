import type { Actor, Forge, ForgeOptions, Policy } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'

/** A signed-in user of these tests. */
export interface Person extends Actor {
  readonly id: string
}

export const olga: Person = { id: '1' }
export const mia: Person = { id: '2' }

/** Lets everyone do everything. */
export const everyone: Policy<Person, undefined> = { authorize: () => ({ allow: true }) }

/** A forge in memory whose policy allows everything and whose organizations have no members, but for what is given. */
export function aForge(options: Partial<ForgeOptions<Person, undefined>> = {}): Forge<Person, undefined> {
  return createForge<Person, undefined>({
    storage: memoryStorage(),
    policy: everyone,
    membership: { isMember: () => false },
    clock: { now: () => new Date('2026-01-02T03:04:05Z') },
    ...options,
  })
}

/** The code of the error that an action ends in. */
export async function codeOf(action: () => unknown): Promise<string> {
  try {
    await action()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
  return 'no error'
}
