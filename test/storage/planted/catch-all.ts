import { afterAll, describe, expect, test } from 'vitest'
import type { ContractCase } from '../../../src/testing/testing.ts'
import { storageContract } from '../../../src/testing/testing.ts'
import type { StorageKind } from '../storage-kind.ts'
import type { KindName, PlantedStorage } from './planted-storage.ts'
import { PLANTED_STORAGES } from './planted-storages.ts'
import type { SqlFault } from './sql-fault.ts'
import { withFault } from './storage-fault.ts'

/** A storage with one fault does the rest right: this much of it at least. */
const STILL_RIGHT = 'a user without badges has an empty list'

const MAX_ROUNDS = 12

/**
 * Defines the tests that show that a kind of storage is caught with every fault it can have, and passes without.
 *
 * @param make - makes the kind, with a fault in what it runs when one is given
 */
export function catchAll<Tx>(name: KindName, make: (fault?: SqlFault) => StorageKind<Tx>): void {
  const planted = PLANTED_STORAGES.filter(({ kinds }) => kinds.includes(name))

  describe(name, () => {
    const sound = make()
    afterAll(() => sound.end())

    for (const one of planted) {
      test(`a storage that ${one.fault} is caught by "${one.caughtBy}"`, { timeout: 120_000 }, async () => {
        const kind = broken(one, make, sound)
        try {
          await caseOf(kind, STILL_RIGHT).run()
          expect(await isCaught(caseOf(kind, one.caughtBy))).toBe(true)
        } finally {
          if (kind !== sound) await kind.end()
        }
      })
    }

    for (const caughtBy of new Set(planted.map((one) => one.caughtBy))) {
      test(`a sound storage passes "${caughtBy}"`, () => caseOf(sound, caughtBy).run())
    }
  })
}

/** A race may not arise on a machine that is busy: then it is run again. */
async function isCaught(one: ContractCase): Promise<boolean> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const passed = await one.run().then(
      () => true,
      () => false,
    )
    if (!passed) return true
  }
  return false
}

function broken<Tx>(
  { plant }: PlantedStorage,
  make: (fault?: SqlFault) => StorageKind<Tx>,
  sound: StorageKind<Tx>,
): StorageKind<Tx> {
  if (typeof plant !== 'function') return make(plant)

  const kind = withFault(sound, plant)
  return { ...kind, end: async () => undefined }
}

function caseOf<Tx>({ open, host }: StorageKind<Tx>, name: string): ContractCase {
  const found = storageContract(open, host).find((one) => one.name === name)
  if (found === undefined) throw new TypeError(`the contract has no case "${name}" for this kind`)
  return found
}
