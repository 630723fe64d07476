import * as ownership from '../faults/ownership-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY } from '../planted-storage.ts'

/** Storages that share what they keep. */
export const OWNERSHIP_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'shares what it gives',
    kinds: EVERY,
    caughtBy: 'changing a board that was given changes nothing stored',
    plant: ownership.sharesWhatItGives,
  },
  {
    fault: 'shares what it is given',
    kinds: EVERY,
    caughtBy: 'changing what a decision handed in changes nothing stored',
    plant: ownership.sharesWhatItIsGiven,
  },
  {
    fault: 'shares what it shows a decision',
    kinds: EVERY,
    caughtBy: 'changing the state that a decision was shown changes nothing stored',
    plant: ownership.sharesWhatItShows,
  },
]
