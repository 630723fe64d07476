import * as ownership from '../faults/ownership-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY } from '../planted-storage.ts'

/** Storages that share what they keep. */
export const OWNERSHIP_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'shares what it gives',
    kinds: EVERY,
    caughtBy: 'modifying a board that was returned changes nothing stored',
    plant: ownership.sharesWhatItGives,
  },
  {
    fault: 'shares what it is given',
    kinds: EVERY,
    caughtBy: 'modifying what a decision returned changes nothing stored',
    plant: ownership.sharesWhatItIsGiven,
  },
  {
    fault: 'shares what it shows a decision',
    kinds: EVERY,
    caughtBy: 'modifying the state that a decision received changes nothing stored',
    plant: ownership.sharesWhatItShows,
  },
  {
    fault: 'reads a key when its turn comes',
    kinds: EVERY,
    caughtBy: 'modifying the slugs of a key after the call changes nothing',
    plant: ownership.readsKeysLater,
  },
  {
    fault: 'reads what is retired when its turn comes',
    kinds: EVERY,
    caughtBy: 'modifying what is retired after the call changes nothing',
    plant: ownership.readsWhatIsRetiredLater,
  },
]
