import assert from 'node:assert/strict'
import type { ForgeErrorCode, MaybePromise } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { turns } from './gate.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { hostCase, storageCase } from './storage-case.ts'

/** Two sides that write to the same data. Both may be the same storage. */
export type Race = <Tx>(one: ForgeStorage<Tx>, other: ForgeStorage<Tx>) => Promise<void>

/**
 * Creates two cases from a race: within one storage, and between two storages over the same data, as in two processes.
 * A storage may refuse a call as busy after it has waited long enough. Fifty calls for one board can cause that on a
 * slow machine. Such a call has had no effect and is repeated, as an application would do.
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

/** The number of attempts before a refusal fails the case. */
const MAX_ATTEMPTS = 10

/** Wraps a storage, and each of its stores, so that calls that are refused as busy are repeated. */
function persistent<Owner extends object>(owner: Owner): Owner {
  return new Proxy(owner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member === 'object' && member !== null) return persistent(member)
      if (typeof member !== 'function') return member
      return (...values: readonly unknown[]) => untilFree(() => Reflect.apply(member, target, values))
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

/** Returns true if the call had no effect and may be repeated. */
function asksToTryAgain(error: unknown): boolean {
  if (isForgeError(error, 'STORAGE_BUSY')) return error.details.retry === 'call'
  return isForgeError(error, 'STORAGE_UNAVAILABLE') && error.details.outcome === 'nothing-done'
}

/**
 * Runs work concurrently and returns the values of the calls that succeeded.
 *
 * @param refusals - the codes with which rules may refuse some of the calls; any other error fails the case
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

/** Checks that a call was refused with one of these codes. */
export function assertRefused(outcome: Outcome, ...refusals: readonly ForgeErrorCode[]): void {
  assert.ok('thrown' in outcome, `refused with ${refusals.join(' or ')}, but it answered`)
  refuseOthers(outcome.thrown, refusals)
}

/** Checks that a call was not refused. */
export function assertMade(outcome: Outcome): void {
  assert.ok('value' in outcome, `made, but it threw ${'thrown' in outcome ? describe(outcome.thrown) : 'nothing'}`)
}

function refuseOthers(thrown: unknown, refusals: readonly ForgeErrorCode[]): void {
  const known = isForgeError(thrown) && refusals.includes(thrown.code)
  assert.ok(known, `${refusals.join(', ') || 'nothing'} may refuse it, but it threw ${describe(thrown)}`)
}

/** Returns the numbers from 1 to `count` as ids. */
export function idsTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1))
}

function describe(thrown: unknown): string {
  if (!isForgeError(thrown)) return String(thrown)
  return `${thrown.code}: ${thrown.message} (${String(thrown.cause)})`
}
