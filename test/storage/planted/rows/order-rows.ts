import * as pages from '../faults/page-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SQL } from '../planted-storage.ts'

/** Storages that lose the order. Source: docs/storage.md, section 8 */
export const ORDER_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'orders by id',
    kinds: EVERY,
    caughtBy: 'a board keeps the order its changes give it',
    plant: pages.ordersById,
  },
  {
    fault: 'leaves gaps between places',
    kinds: SQL,
    caughtBy: 'a board keeps the order its changes give it',
    plant: pages.leavesGaps,
  },
  {
    fault: 'counts at another moment than it lists',
    kinds: EVERY,
    caughtBy: 'page and total agree while blocks come and go',
    plant: pages.countsLater,
  },
  {
    fault: 'reads page and total in two transactions',
    kinds: SQL,
    caughtBy: 'page and total agree while blocks come and go',
    plant: pages.readsWithoutSnapshot,
  },
  {
    fault: 'takes a cursor for how many were passed',
    kinds: EVERY,
    caughtBy: 'a walk sees no block twice and misses none while others come and go',
    plant: pages.countsToCursors,
  },
]
