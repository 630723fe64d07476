import * as locks from '../faults/lock-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, POSTGRES, SERVERS } from '../planted-storage.ts'

const FRESH_BOARD = 'thirty pins at once at a limit of 3, on a board that was never used, pin exactly 3'
const WAITED = 'a pin that waited for another sees it'
const SNAPSHOT =
  'a host that reads from a snapshot sees what came since or is told to begin anew, on a board that was used before'

/** Storages that do not lock, or not in time. Source: docs/storage.md, section 1 */
export const LOCK_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'decides on what it read before it waited',
    kinds: EVERY,
    caughtBy: FRESH_BOARD,
    plant: locks.decidesBeforeItLocks,
  },
  {
    fault: 'locks a head only when it is there',
    kinds: SERVERS,
    caughtBy: FRESH_BOARD,
    plant: locks.locksNoMissingHead,
  },
  { fault: 'loads in the statement that locks', kinds: SERVERS, caughtBy: WAITED, plant: locks.loadsAsItLocks },
  { fault: 'locks heads and never writes them', kinds: ['PostgreSQL'], caughtBy: SNAPSHOT, plant: locks.writesNoHead },
  {
    fault: 'reads from a snapshot behind the lock',
    kinds: ['MariaDB'],
    caughtBy: SNAPSHOT,
    plant: locks.readsBehindTheLockFromTheSnapshot,
  },
  {
    fault: 'has no foreign key from grants to badges',
    kinds: POSTGRES,
    caughtBy: 'a badge that is removed while it is being granted is held, or was granted to nobody',
    plant: locks.refersWithoutKeys,
  },
  {
    fault: 'locks heads in another order than others do',
    kinds: SERVERS,
    caughtBy: 'a block and the deletion of its user that wait for one organization end without errors',
    plant: locks.locksInTheOtherOrder,
  },
  {
    fault: 'waits for locks as long as it takes',
    kinds: SERVERS,
    caughtBy: 'a change that is kept waiting is refused as busy in the end, and can be made later',
    plant: locks.waitsForEver,
  },
  {
    fault: 'does not lock the user it blocks',
    kinds: POSTGRES,
    caughtBy: 'a change that is not committed when the user it blocks is deleted leaves nothing behind',
    plant: locks.locksNoUserOfABlock,
  },
  {
    fault: 'does not lock the issue it pins',
    kinds: POSTGRES,
    caughtBy:
      'a change that is not committed when its issue, which was in another repository, is deleted leaves nothing behind',
    plant: locks.locksNoIssue,
  },
]
