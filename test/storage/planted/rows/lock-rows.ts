import * as locks from '../faults/lock-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, POSTGRES, SERVERS } from '../planted-storage.ts'

const FRESH_BOARD = 'thirty concurrent pins at a limit of 3, on a board that was never used, pin exactly 3'
const WAITED = 'a pin that waited for another sees it'
const SNAPSHOT = 'a host that reads from a snapshot sees newer changes or must retry, on a board that was used before'

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
    caughtBy: 'a badge that is removed while it is being granted is held, or no grant succeeded',
    plant: locks.refersWithoutKeys,
  },
  {
    fault: 'locks heads in another order than others do',
    kinds: SERVERS,
    caughtBy: 'a block and the deletion of its user that wait for one organization both succeed',
    plant: locks.locksInTheOtherOrder,
  },
  {
    fault: 'waits for locks as long as it takes',
    kinds: SERVERS,
    caughtBy: 'a change that waits too long is refused as busy, and can be made later',
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
  {
    fault: 'locks an issue before the boards it is on',
    kinds: SERVERS,
    caughtBy: 'a pin and the deletion of its issue that wait for one board both succeed',
    plant: locks.locksIssuesFirst,
  },
  {
    fault: 'locks blocks before their organization',
    kinds: SERVERS,
    caughtBy: 'the deletions of an organization and of a user it blocks that wait for that organization both succeed',
    plant: locks.locksRowsFirst,
  },
  {
    fault: 'locks pins before their board',
    kinds: SERVERS,
    caughtBy: 'the deletions of a repository and of an issue on its board that wait for that board both succeed',
    plant: locks.locksRowsFirst,
  },
  {
    fault: 'locks boards in the order it finds them',
    kinds: SERVERS,
    caughtBy: 'the deletions of two issues on the same two boards that wait for one of them both succeed',
    plant: locks.locksBoardsInAnyOrder,
  },
  {
    fault: 'locks issues in the order of their places',
    kinds: SERVERS,
    caughtBy: 'two changes that pin the same issues in opposite order and wait for one of them both succeed',
    plant: locks.locksIssuesInAnyOrder,
  },
  {
    fault: 'looks for the blocks of a user in a snapshot only',
    kinds: ['MariaDB'],
    caughtBy: 'a host that reads from a snapshot and deletes a user removes newer blocks too, or must retry',
    plant: locks.looksOnce,
  },
  {
    fault: 'looks for the boards of an issue in a snapshot only',
    kinds: ['MariaDB'],
    caughtBy: 'a host that reads from a snapshot and deletes an issue removes newer pins too, or must retry',
    plant: locks.looksOnce,
  },
]
