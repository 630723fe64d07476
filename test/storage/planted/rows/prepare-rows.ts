import * as locks from '../faults/lock-faults.ts'
import * as faults from '../faults/prepare-faults.ts'
import { keepsItsTransaction } from '../faults/transaction-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SERVERS, SQL, WAITING_TRANSACTIONS } from '../planted-storage.ts'

/** Storages that look up what a decision needs at another time, or lose it. Source: docs/storage.md, section 2 */
export const PREPARE_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'prepares before it locks',
    kinds: EVERY,
    caughtBy: 'what prepare reads on its transaction is what the decision sees',
    plant: faults.preparesBeforeItLocks,
  },
  {
    fault: 'loses what was prepared',
    kinds: EVERY,
    caughtBy: 'a change of an issue import decides with what its prepare returned',
    plant: faults.losesTheAnswer,
  },
  {
    fault: 'goes on when prepare fails',
    kinds: EVERY,
    caughtBy: 'a change of an issue import writes nothing when prepare throws, and throws the same error',
    plant: faults.ignoresFailures,
  },
  {
    fault: 'prepares once for all attempts',
    kinds: WAITING_TRANSACTIONS,
    caughtBy: 'every attempt of a change is prepared, and decided with its own answer',
    plant: faults.preparesOnce,
  },
  {
    fault: 'keeps its transaction from prepare',
    kinds: SQL,
    caughtBy: 'prepare and beforeCommit receive the host’s transaction',
    plant: keepsItsTransaction,
  },
  {
    fault: 'accepts changes that prepare makes',
    kinds: WAITING_TRANSACTIONS,
    caughtBy: 'a change made by prepare on its own transaction is a TypeError',
    plant: faults.lendsNothing,
  },
  {
    fault: 'locks no imports',
    kinds: SERVERS,
    caughtBy: 'imports into one repository run one after the other',
    plant: locks.locksNoImports,
  },
]
