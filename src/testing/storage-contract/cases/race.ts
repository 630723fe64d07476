import assert from 'node:assert/strict'
import type { ForgeErrorCode, MaybePromise } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { turns } from './gate.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { hostCase, storageCase } from './storage-case.ts'

/** Two sides that write to the same data; they may be one storage. */
export type Race = <Tx>(one: ForgeStorage<Tx>, other: ForgeStorage<Tx>) => Promise<void>

/**
 * Makes two cases of a race: within one storage, and between two over the same data, as two processes are. A storage may
 * refuse a call as busy when it has waited long enough, which fifty calls for one board may do on a slow machine. Such a
 * call has done nothing, and is made again, as an application would.
 */
export function raceCases(name: string, race: Race): readonly StorageCase[] {
  return [
    storageCase(name, (storage) => {
      const one = persistent(storage)
      return race(one, one)
    }),
    hostCase(`${name}, from two storages`, ['again'], async (storage, bench) =>
      race(persistent(storage), persistent(await bench.again())),
    ),
  ]
}

/** How often a call is made before its refusal fails the case. */
const MAX_ATTEMPTS = 10

/** A storage whose calls are made again when they are refused as busy. */
function persistent<Tx>(storage: ForgeStorage<Tx>): ForgeStorage<Tx> {
  return {
    ...storage,
    pinBoards: persistentCalls(storage.pinBoards),
    blocks: persistentCalls(storage.blocks),
    userBadges: persistentCalls(storage.userBadges),
    badgeCatalogue: persistentCalls(storage.badgeCatalogue),
    events: persistentCalls(storage.events),
    retire: (retirement) => untilFree(() => storage.retire(retirement)),
  }
}

function persistentCalls<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...values: readonly unknown[]) => untilFree(() => Reflect.apply(method, target, values))
    },
  })
}

async function untilFree<T>(call: () => MaybePromise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !asksToTryAgain(error)) throw error
      await turns(attempt)
    }
  }
}

/** Whether nothing was done, and the same call may be made again. */
function asksToTryAgain(error: unknown): boolean {
  if (isForgeError(error, 'STORAGE_BUSY')) return error.details.retry === 'call'
  return isForgeError(error, 'STORAGE_UNAVAILABLE') && error.details.outcome === 'nothing-done'
}

/**
 * Runs work at once and gives what succeeded.
 *
 * @param refusals - the codes that rules may refuse some of it with; anything else that is thrown fails the case
 */
export async function atOnce<T>(
  work: readonly Promise<T>[],
  ...refusals: readonly ForgeErrorCode[]
): Promise<readonly T[]> {
  const outcomes = await Promise.allSettled(work)
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'fulfilled') return [outcome.value]
    refuseOthers(outcome.reason, refusals)
    return []
  })
}

/** Checks that a call was refused, with one of these codes. */
export function assertRefused(outcome: Outcome, ...refusals: readonly ForgeErrorCode[]): void {
  assert.ok('thrown' in outcome, `refused with ${refusals.join(' or ')}, but it answered`)
  refuseOthers(outcome.thrown, refusals)
}

function refuseOthers(thrown: unknown, refusals: readonly ForgeErrorCode[]): void {
  const known = isForgeError(thrown) && refusals.includes(thrown.code)
  assert.ok(known, `${refusals.join(', ') || 'nothing'} may refuse it, but it threw ${describe(thrown)}`)
}

/** The numbers from 1 to `count`, as ids. */
export function idsTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1))
}

function describe(thrown: unknown): string {
  if (!isForgeError(thrown)) return String(thrown)
  return `${thrown.code}: ${thrown.message} (${String(thrown.cause)})`
}
