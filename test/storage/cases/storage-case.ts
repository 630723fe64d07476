import assert from 'node:assert/strict'
import type { ForgeErrorCode } from '../../../src/schema/errors.ts'
import { isForgeError } from '../../../src/schema/errors.ts'
import type { ForgeStorage } from '../../../src/storage/contract/forge-storage.ts'

/** Gives a fresh storage, migrated and empty, each time it is called. */
export type OpenStorage = () => Promise<ForgeStorage>

/** One thing every storage must do; `run` rejects when this one does not. */
export interface StorageCase {
  /** A fact, in the present tense. */
  readonly name: string
  run(open: OpenStorage): Promise<void>
}

/** Makes a case of a fact and what checks it on one fresh storage, which is closed afterwards. */
export function storageCase(name: string, check: (storage: ForgeStorage) => Promise<void>): StorageCase {
  return {
    name,
    async run(open) {
      const storage = await open()
      try {
        await check(storage)
      } finally {
        await storage.close()
      }
    },
  }
}

/** Checks that a call is refused with this code, whether it throws at once or rejects. */
export async function refuses(code: ForgeErrorCode, call: () => unknown): Promise<void> {
  const outcome = await outcomeOf(call)
  assert.ok('thrown' in outcome, `refused with ${code}, but it answered`)
  assert.ok(isForgeError(outcome.thrown, code), `refused with ${code}, but it threw ${String(outcome.thrown)}`)
}

/** What a call ended with: a value, or what it threw or rejected with. */
export async function outcomeOf(
  call: () => unknown,
): Promise<{ readonly value: unknown } | { readonly thrown: unknown }> {
  try {
    return { value: await call() }
  } catch (thrown) {
    return { thrown }
  }
}
