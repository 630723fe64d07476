import * as events from '../faults/event-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SERVERS, SQL } from '../planted-storage.ts'

const WITH_ITS_EVENT = 'a change of a pin board gives the result of its decision and writes it with its event'
const HOST_THROWS = 'a change of a pin board writes nothing when beforeCommit throws, and throws the same error'
const NOT_SEEN = 'a change of a pin board is not seen from outside before it is committed'

/** Storages that lose events, or tell them wrongly. Source: docs/storage.md, section 5 */
export const EVENT_ROWS: readonly PlantedStorage[] = [
  { fault: 'forgets the event', kinds: EVERY, caughtBy: WITH_ITS_EVENT, plant: events.forgetsEvents },
  { fault: 'writes no row for the event', kinds: SQL, caughtBy: WITH_ITS_EVENT, plant: events.insertsNoEvents },
  {
    fault: 'writes the event in a transaction of its own',
    kinds: EVERY,
    caughtBy: HOST_THROWS,
    plant: events.writesEventsApart,
  },
  { fault: 'tells events as committed before they are', kinds: EVERY, caughtBy: NOT_SEEN, plant: events.tellsTooEarly },
  {
    fault: 'follows ids that are given before the commit',
    kinds: SERVERS,
    caughtBy: 'an event that is committed after a younger one was read is read next',
    plant: events.followsIds,
  },
  {
    fault: 'gives the last event again',
    kinds: EVERY,
    caughtBy: 'the outbox tells every change once, in order, with subject and data',
    plant: events.readsTwice,
  },
  {
    fault: 'keeps half of the history',
    kinds: EVERY,
    caughtBy: 'the history of an issue is its pins and unpins, in order',
    plant: events.keepsHalfTheHistory,
  },
  {
    fault: 'honours no lease',
    kinds: EVERY,
    caughtBy: 'a lease keeps other holders away from its name, and from no other',
    plant: events.leasesToAll,
  },
  {
    fault: 'prunes what a consumer has not read',
    kinds: EVERY,
    caughtBy: 'nothing is removed that a consumer has not behind it',
    plant: events.prunesBeyondConsumers,
  },
  {
    fault: 'hides that something was pruned',
    kinds: EVERY,
    caughtBy: 'a cursor below the floor is told where to go on, and one at the floor goes on',
    plant: events.hidesWhatWasPruned,
  },

  {
    fault: 'prunes the history of living issues',
    kinds: SQL,
    caughtBy: 'the history of a living issue stays',
    plant: events.prunesHistory,
  },
]
