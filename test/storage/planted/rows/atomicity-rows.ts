import * as events from '../faults/event-faults.ts'
import * as life from '../faults/life-faults.ts'
import * as pages from '../faults/page-faults.ts'
import * as rollback from '../faults/rollback-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SQL } from '../planted-storage.ts'

const WITH_ITS_EVENT = 'a change of a pin board returns the result of its decision and writes the state with its event'
const HOST_THROWS = 'a change of a pin board writes nothing when beforeCommit throws, and throws the same error'
const NOT_SEEN = 'a change of a pin board is invisible from outside before it is committed'

/** Storages that write halves, or ask in vain. */
export const ATOMICITY_ROWS: readonly PlantedStorage[] = [
  { fault: 'asks the host after the commit', kinds: EVERY, caughtBy: HOST_THROWS, plant: rollback.asksTooLate },
  {
    fault: 'does not ask the host',
    kinds: EVERY,
    caughtBy: 'a change of a pin board passes beforeCommit the events it will commit',
    plant: rollback.asksNobody,
  },
  { fault: 'commits halves of changes', kinds: SQL, caughtBy: HOST_THROWS, plant: rollback.commitsHalves },
  { fault: 'reads what is not committed', kinds: SQL, caughtBy: NOT_SEEN, plant: rollback.readsUncommitted },
  {
    fault: 'reads a board in two halves',
    kinds: EVERY,
    caughtBy: 'a board that is constantly reversed is always read consistently',
    plant: pages.readsInHalves,
  },
  { fault: 'makes a change twice', kinds: EVERY, caughtBy: WITH_ITS_EVENT, plant: events.changesTwice },
  {
    fault: 'does not care that its caller has given up',
    kinds: EVERY,
    caughtBy: 'a change of a pin board is not written when its caller has aborted',
    plant: life.ignoresSignals,
  },
  {
    fault: 'decides at another time than its events bear',
    kinds: EVERY,
    caughtBy: 'a change of a pin board is decided at the time of its events',
    plant: life.readsTheClockTwice,
  },
]
