import * as life from '../faults/life-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY } from '../planted-storage.ts'

/** Storages that do not begin or end well. */
export const LIFE_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'fails when it is closed again',
    kinds: EVERY,
    caughtBy: 'a storage can be closed twice, even concurrently',
    plant: life.closesOnce,
  },
  {
    fault: 'refuses listeners for warnings',
    kinds: EVERY,
    caughtBy: 'listeners for warnings are accepted, and a storage in order warns of nothing',
    plant: life.refusesListeners,
  },
  {
    fault: 'answers after it was closed',
    kinds: EVERY,
    caughtBy: 'a closed storage refuses every call',
    plant: life.closesLate,
  },
  {
    fault: 'does not distinguish a close from an outage',
    kinds: EVERY,
    caughtBy: 'a closed storage refuses every call',
    plant: life.closesAsIfAway,
  },
  {
    fault: 'reports the wrong state of its tables',
    kinds: EVERY,
    caughtBy: 'a migrated storage is current',
    plant: life.claimsToBeOutdated,
  },
]
