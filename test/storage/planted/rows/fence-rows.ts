import * as fence from '../faults/fence-faults.ts'
import type { PlantedStorage } from '../planted-storage.ts'
import { EVERY, SQL } from '../planted-storage.ts'

const ISSUE_GONE = 'what is retired refuses: the issue'
const REPOSITORY_GONE = 'what is retired refuses: the repository'

/** Storages that forget what changed between a look-up and the lock. Source: docs/storage.md, section 2 */
export const FENCE_ROWS: readonly PlantedStorage[] = [
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
]
