import * as pages from '../faults/page-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, POSTGRES, SERVERS, SQL } from '../planted-storage.ts'

/** Storages that lose the order. Source: docs/storage.md, section 8 */
export const ORDER_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'orders by id',
    kinds: EVERY,
    caughtBy: 'a board keeps the order that changes give it',
    plant: pages.ordersById,
  },
  {
    fault: 'leaves gaps between places',
    kinds: SQL,
    caughtBy: 'a board keeps the order that changes give it',
    plant: pages.leavesGaps,
  },
  {
    fault: 'counts at another moment than it lists',
    kinds: EVERY,
    caughtBy: 'page and total agree while blocks are added and removed',
    plant: pages.countsLater,
  },
  {
    fault: 'keeps the totals of the audit view when events are removed',
    kinds: EVERY,
    caughtBy: 'the audit view counts what was added, read by consumers and removed since the last page',
    plant: pages.countsHigherIds,
  },
  {
    fault: 'never counts an event if its transaction ends behind one that began later',
    kinds: POSTGRES,
    caughtBy: 'the audit view counts an event of a host’s transaction that commits late as it lists it',
    plant: pages.countsHigherIds,
  },
  {
    fault: 'reads page and total in two statements',
    kinds: SQL,
    caughtBy: 'page and total agree while blocks are added and removed',
    plant: pages.countsInAnotherStatement,
  },
  {
    fault: 'reads page and total in two statements of a host’s transaction',
    kinds: SERVERS,
    caughtBy:
      'page and total agree in a host’s transaction that reads what is committed, while blocks and definitions are added and removed',
    plant: pages.countsInAnotherStatement,
  },
  {
    fault: 'counts beside the snapshot of a host’s transaction',
    kinds: ['SQLite file', 'PostgreSQL', 'MariaDB'],
    caughtBy:
      'page and total agree in a host’s transaction that reads from a snapshot, while blocks and definitions are added and removed',
    plant: pages.countsOutside,
  },
  {
    fault: 'takes a cursor for how many were passed',
    kinds: EVERY,
    caughtBy: 'reading by cursor returns no block twice and misses none while others are added and removed',
    plant: pages.countsToCursors,
  },
]
