import assert from 'node:assert/strict'
import type { ForgeErrorCode } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { hostCase, storageCase } from './storage-case.ts'

/** Two sides that write to the same data; they may be one storage. */
export type Race = <Tx>(one: ForgeStorage<Tx>, other: ForgeStorage<Tx>) => Promise<void>

/** Makes two cases of a race: within one storage, and between two over the same data, as two processes are. */
export function raceCases(name: string, race: Race): readonly StorageCase[] {
  return [
    storageCase(name, (storage) => race(storage, storage)),
    hostCase(`${name}, from two storages`, ['again'], async (storage, bench) => race(storage, await bench.again())),
  ]
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
