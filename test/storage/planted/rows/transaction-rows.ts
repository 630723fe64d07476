import * as rollback from '../faults/rollback-faults.ts'
import * as faults from '../faults/transaction-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SERVERS, SQL, WAITING_TRANSACTIONS } from '../planted-storage.ts'

/** Storages that do not live with the transactions of the host. Source: docs/storage.md, section 3 */
export const TRANSACTION_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'commits the host’s transaction',
    kinds: SQL,
    caughtBy: 'a change of a pin board in a host’s transaction is undone when that is rolled back',
    plant: faults.commitsHostTransactions,
  },
  {
    fault: 'writes beside the host’s transaction',
    kinds: SERVERS,
    caughtBy: 'a change of a pin board in a host’s transaction is undone when that is rolled back',
    plant: faults.writesBesideHostTransactions,
  },
  {
    fault: 'reads beside the host’s transaction',
    kinds: ['SQLite file', 'PostgreSQL', 'MariaDB'],
    caughtBy: 'a read in a host’s transaction sees its changes',
    plant: faults.readsBesideHostTransactions,
  },
  {
    fault: 'makes changes in a host’s transaction without a savepoint',
    kinds: SQL,
    caughtBy: 'a change of a pin board that fails in a host’s transaction keeps the rest of it',
    plant: rollback.changesWithoutSavepoint,
  },
  {
    fault: 'keeps its transaction from beforeCommit',
    kinds: SQL,
    caughtBy: 'beforeCommit receives the host’s transaction, and reads in it what it will commit',
    plant: faults.keepsItsTransaction,
  },
  {
    fault: 'refuses the changes that come during the beforeCommit of another',
    kinds: WAITING_TRANSACTIONS,
    caughtBy: 'changes requested during a beforeCommit of the same host’s transaction run after it',
    plant: faults.takesCallersForBeforeCommit,
  },
  {
    fault: 'reads what the beforeCommit of another may refuse',
    kinds: WAITING_TRANSACTIONS,
    caughtBy:
      'a read requested during a beforeCommit of the same host’s transaction does not see a change that beforeCommit refuses',
    plant: faults.takesCallersForBeforeCommit,
  },
  {
    fault: 'enters a transaction that has ended',
    kinds: SQL,
    caughtBy: 'an open host’s transaction is accepted, one that has ended is not',
    plant: faults.entersAnything,
  },
  {
    fault: 'accepts a value that is not a transaction',
    kinds: EVERY,
    caughtBy: 'a value that is not an open host’s transaction is refused',
    plant: faults.entersAnything,
  },
  {
    fault: 'ignores the prefix',
    kinds: SQL,
    caughtBy: 'two storages in one database do not see each other’s changes',
    plant: faults.ignoresThePrefix,
  },
]
