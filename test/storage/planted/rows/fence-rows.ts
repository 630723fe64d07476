import * as fence from '../faults/fence-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SQL } from '../planted-storage.ts'

const ISSUE_GONE = 'a retired issue refuses changes'
const REPOSITORY_GONE = 'a retired repository refuses changes'

/** Storages that forget what changed between a look-up and the lock. Source: docs/storage.md, section 2 */
export const FENCE_ROWS: readonly PlantedStorage[] = [
  {
    fault: 'shows changes an old epoch',
    kinds: EVERY,
    caughtBy: 'an organization has one epoch for all users',
    plant: fence.showsAnOldEpoch,
  },
  {
    fault: 'counts every change in the epoch',
    kinds: EVERY,
    caughtBy: 'the epoch of an organization rises with a change that raises it, and with no other',
    plant: fence.countsChanges,
  },
  {
    fault: 'raises no epoch where nothing else changes',
    kinds: EVERY,
    caughtBy: 'the epoch of an organization rises with a change that raises it, and with no other',
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
    caughtBy: 'retiring the issue again changes nothing and calls nothing',
    plant: fence.decidesByAffectedRows,
  },
]
