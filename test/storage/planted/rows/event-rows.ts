import * as events from '../faults/event-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SERVERS, SQL, SQLITE } from '../planted-storage.ts'

const WITH_ITS_EVENT = 'a change of a pin board returns the result of its decision and writes the state with its event'
const HOST_THROWS = 'a change of a pin board writes nothing when beforeCommit throws, and throws the same error'

/** Storages that lose events, or return them wrongly. Source: docs/storage.md, section 5 */
export const EVENT_ROWS: readonly PlantedStorage[] = [
  { fault: 'forgets the event', kinds: EVERY, caughtBy: WITH_ITS_EVENT, plant: events.forgetsEvents },
  { fault: 'writes no row for the event', kinds: SQL, caughtBy: WITH_ITS_EVENT, plant: events.insertsNoEvents },
  {
    fault: 'writes the event in a transaction of its own',
    kinds: EVERY,
    caughtBy: HOST_THROWS,
    plant: events.writesEventsApart,
  },
  {
    fault: 'follows ids that are given before the commit',
    kinds: SERVERS,
    caughtBy: 'an event committed after a later one was read is read next',
    plant: events.followsIds,
  },
  {
    fault: 'gives the last event again',
    kinds: EVERY,
    caughtBy: 'the outbox has every change once, in order, with subject and data',
    plant: events.readsTwice,
  },
  {
    fault: 'keeps half of the history',
    kinds: EVERY,
    caughtBy: 'the history of an issue contains its pins and unpins, in order',
    plant: events.keepsHalfTheHistory,
  },
  {
    fault: 'honours no lease',
    kinds: EVERY,
    caughtBy: 'a lease excludes other holders from its consumer, and from no other',
    plant: events.leasesToAll,
  },
  {
    fault: 'prunes what a consumer has not read',
    kinds: EVERY,
    caughtBy: 'events that a consumer has not passed are not removed',
    plant: events.prunesBeyondConsumers,
  },
  {
    fault: 'hides that something was pruned',
    kinds: EVERY,
    caughtBy: 'a cursor before the oldest event is refused with a cursor to continue from, which works',
    plant: events.hidesWhatWasPruned,
  },

  {
    fault: 'prunes the history of living issues',
    kinds: SQL,
    caughtBy: 'the history of an issue that is not deleted stays',
    plant: events.prunesHistory,
  },
  {
    fault: 'prunes without reading again who consumes',
    kinds: SQLITE,
    caughtBy: 'a consumer created as a prune begins misses no event',
    plant: events.prunesBeyondNewConsumers,
  },
  {
    fault: 'begins new consumers before the oldest event',
    kinds: SQL,
    caughtBy: 'a consumer that is new after a prune begins at the oldest event',
    plant: events.beginsNamesAtZero,
  },
  {
    fault: 'numbers events in another order than that of their ids',
    kinds: ['PGlite', ...SERVERS],
    caughtBy: 'the outbox has every change once, in order, with subject and data',
    plant: events.numbersBackwards,
  },
]
