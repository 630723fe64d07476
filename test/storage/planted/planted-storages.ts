import * as events from './event-faults.ts'
import * as fence from './fence-faults.ts'
import * as joins from './join-faults.ts'
import * as life from './life-faults.ts'
import * as locks from './lock-faults.ts'
import * as ownership from './ownership-faults.ts'
import * as pages from './page-faults.ts'
import * as rollback from './rollback-faults.ts'
import type { SqlFault } from './sql-fault.ts'
import type { StorageFault } from './storage-fault.ts'
import * as values from './value-faults.ts'

/** The kinds of storage, as the table names them. */
export type KindName = 'memory' | 'SQLite file' | 'SQLite memory' | 'PGlite' | 'PostgreSQL' | 'MariaDB'

/** A storage that breaks one rule, and the case that catches it. */
export interface PlantedStorage {
  /** What it does. */
  readonly fault: string
  readonly kinds: readonly KindName[]
  /** The name of a case of the contract. */
  readonly caughtBy: string
  readonly plant: StorageFault | SqlFault
}

const SQLITE = ['SQLite file', 'SQLite memory'] as const
const SQL: readonly KindName[] = [...SQLITE, 'PGlite', 'PostgreSQL', 'MariaDB']
const EVERY: readonly KindName[] = ['memory', ...SQL]
/** Where several writers are at work at once. */
const SERVERS: readonly KindName[] = ['PostgreSQL', 'MariaDB']
/** Where they do not meet but by the locks of heads: MariaDB reads what is not committed behind the lock, and waits. */
const POSTGRES: readonly KindName[] = ['PostgreSQL']

const EXACT_SLUGS = 'slugs are compared exactly'
const FRESH_BOARD = 'thirty pins at once at a limit of 3, on a board that was never used, pin exactly 3'
const WAITED = 'a pin that waited for another sees it'
const SNAPSHOT =
  'a host that reads from a snapshot sees what came since or is told to begin anew, on a board that was used before'
const ISSUE_GONE = 'what is retired refuses: the issue'
const REPOSITORY_GONE = 'what is retired refuses: the repository'
const WITH_ITS_EVENT = 'a change of a pin board gives the result of its decision and writes it with its event'
const HOST_THROWS = 'a change of a pin board writes nothing when beforeCommit throws, and throws the same error'
const NOT_SEEN = 'a change of a pin board is not seen from outside before it is committed'

/** One broken storage for each rule of docs/storage.md that can be seen from outside. */
export const PLANTED_STORAGES: readonly PlantedStorage[] = [
  // Lock, then load.
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

  // Fences, retired heads, tombstones.
  {
    fault: 'compares no epochs',
    kinds: EVERY,
    caughtBy: 'a change of a pin board is stale when the epoch moved, and writes nothing',
    plant: fence.fencesNothing,
  },
  {
    fault: 'compares versions',
    kinds: EVERY,
    caughtBy: 'a change of a pin board is not stale when only other changes came',
    plant: fence.fencesByVersion,
  },
  {
    fault: 'raises no epoch where nothing is to be cleaned',
    kinds: EVERY,
    caughtBy: 'the epoch of a pin board goes up when asked to, also when nothing else changes',
    plant: fence.raisesNoEpoch,
  },
  { fault: 'forgets deleted repositories', kinds: EVERY, caughtBy: REPOSITORY_GONE, plant: fence.forgetsRepositories },
  { fault: 'forgets deleted issues', kinds: EVERY, caughtBy: ISSUE_GONE, plant: fence.forgetsIssues },
  {
    fault: 'deletes the heads of what is gone',
    kinds: SQL,
    caughtBy: REPOSITORY_GONE,
    plant: fence.deletesRetiredHeads,
  },
  {
    fault: 'leaves no tombstones',
    kinds: SQL,
    caughtBy: 'an issue that is deleted while it is pinned is never left on a board',
    plant: fence.leavesNoTombstones,
  },
  {
    fault: 'decides by affected rows',
    kinds: SQL,
    caughtBy: 'retiring the issue again does nothing and asks nothing',
    plant: fence.decidesByAffectedRows,
  },

  // All or nothing.
  { fault: 'asks the host after the commit', kinds: EVERY, caughtBy: HOST_THROWS, plant: rollback.asksTooLate },
  {
    fault: 'does not ask the host',
    kinds: EVERY,
    caughtBy: 'a change of a pin board tells beforeCommit the events it will commit',
    plant: rollback.asksNobody,
  },
  { fault: 'commits halves of changes', kinds: SQL, caughtBy: HOST_THROWS, plant: rollback.commitsHalves },
  { fault: 'reads what is not committed', kinds: SQL, caughtBy: NOT_SEEN, plant: rollback.readsUncommitted },
  {
    fault: 'reads a board in two halves',
    kinds: EVERY,
    caughtBy: 'a board that is turned all the time is always read whole',
    plant: pages.readsInHalves,
  },
  { fault: 'makes a change twice', kinds: EVERY, caughtBy: WITH_ITS_EVENT, plant: events.changesTwice },
  {
    fault: 'does not care that its caller has given up',
    kinds: EVERY,
    caughtBy: 'a change of a pin board is not written when its caller has given up',
    plant: life.ignoresSignals,
  },
  {
    fault: 'decides at another time than its events bear',
    kinds: EVERY,
    caughtBy: 'a change of a pin board is decided at the time its events bear',
    plant: life.readsTheClockTwice,
  },

  // Events and the outbox.
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

  // Values.
  { fault: 'folds case', kinds: EVERY, caughtBy: EXACT_SLUGS, plant: values.foldsCase },
  { fault: 'ignores trailing blanks', kinds: EVERY, caughtBy: EXACT_SLUGS, plant: values.ignoresTrailingBlanks },
  { fault: 'composes characters', kinds: EVERY, caughtBy: EXACT_SLUGS, plant: values.composesCharacters },
  { fault: 'has a column without case', kinds: SQLITE, caughtBy: EXACT_SLUGS, plant: values.collatesWithoutCase },
  {
    fault: 'has a column without trailing blanks',
    kinds: SQLITE,
    caughtBy: EXACT_SLUGS,
    plant: values.collatesWithoutBlanks,
  },
  {
    fault: 'has a column of the server’s default collation',
    kinds: ['MariaDB'],
    caughtBy: EXACT_SLUGS,
    plant: values.collatesByDefault,
  },
  {
    fault: 'has a column that pads with blanks',
    kinds: ['MariaDB'],
    caughtBy: EXACT_SLUGS,
    plant: values.collatesPadded,
  },
  {
    fault: 'loses characters of four bytes',
    kinds: EVERY,
    caughtBy: 'texts come out as they went in',
    plant: values.losesFourByteCharacters,
  },
  {
    fault: 'cuts texts',
    kinds: EVERY,
    caughtBy: 'the longest texts are kept whole, in characters of one byte and of four',
    plant: values.cutsTexts,
  },
  {
    fault: 'rounds ids',
    kinds: EVERY,
    caughtBy: 'ids of 64 bits come out of boards, blocks and events as they went in',
    plant: values.roundsIds,
  },
  {
    fault: 'compares ids as numbers',
    kinds: SQL,
    caughtBy: 'ids that are texts are compared exactly',
    plant: values.comparesIdsAsNumbers,
  },
  {
    fault: 'keeps whole seconds',
    kinds: EVERY,
    caughtBy: 'times come out to the millisecond',
    plant: values.keepsSeconds,
  },

  // Ownership.
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

  // Order and pages.
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

  // The host's transactions, and names of its own.
  {
    fault: 'commits the host’s transaction',
    kinds: SQL,
    caughtBy: 'a change of a pin board in a host’s transaction goes when that is rolled back',
    plant: joins.commitsJoins,
  },
  {
    fault: 'writes beside the host’s transaction',
    kinds: SERVERS,
    caughtBy: 'a change of a pin board in a host’s transaction goes when that is rolled back',
    plant: joins.writesBesideJoins,
  },
  {
    fault: 'reads beside the host’s transaction',
    kinds: ['SQLite file', 'PostgreSQL', 'MariaDB'],
    caughtBy: 'what a host’s transaction has changed is read on it',
    plant: joins.readsBesideJoins,
  },
  {
    fault: 'joins without a savepoint',
    kinds: SQL,
    caughtBy: 'a change of a pin board that fails in a host’s transaction leaves the rest of it',
    plant: rollback.joinsWithoutSavepoint,
  },
  {
    fault: 'keeps its transaction from beforeCommit',
    kinds: SQL,
    caughtBy: 'beforeCommit is given the host’s transaction, and reads in it what it will commit',
    plant: joins.keepsItsTransaction,
  },
  {
    fault: 'enters a transaction that has ended',
    kinds: SQL,
    caughtBy: 'an open transaction of the host’s is entered, one that has ended is not',
    plant: joins.entersAnything,
  },
  {
    fault: 'enters what is no transaction',
    kinds: EVERY,
    caughtBy: 'what is no open transaction of the host’s cannot be entered',
    plant: joins.entersAnything,
  },
  {
    fault: 'ignores the prefix',
    kinds: SQL,
    caughtBy: 'two storages in one database do not see each other’s changes',
    plant: joins.ignoresThePrefix,
  },

  // Its life.
  {
    fault: 'fails when it is closed again',
    kinds: EVERY,
    caughtBy: 'a storage can be closed twice, also at once',
    plant: life.closesOnce,
  },
  {
    fault: 'answers after it was closed',
    kinds: EVERY,
    caughtBy: 'a closed storage refuses every call',
    plant: life.closesLate,
  },
  {
    fault: 'tells the wrong state of its tables',
    kinds: EVERY,
    caughtBy: 'a migrated storage is current',
    plant: life.claimsToBeOutdated,
  },
]
