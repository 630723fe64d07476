export type { ContractCase } from './contract-case.ts'
export type { TestForge, TestForgeOptions } from './create-test-forge.ts'
export { createTestForge } from './create-test-forge.ts'
export type { FailingPath, HostPath, KnownHost, MountedHost, WaitingPath } from './mount-contract/known-host.ts'
export { mountContract } from './mount-contract/mount-contract.ts'
export {
  blockedBy,
  blocksOf,
  issuesOn,
  outbox,
  slugsHeldBy,
} from './storage-contract/cases/contents.ts'
export type { HeldWork } from './storage-contract/cases/gate.ts'
export { heldInBeforeCommit, turns, whileWaiting } from './storage-contract/cases/gate.ts'
export { LATER, note } from './storage-contract/cases/prune-samples.ts'
export type { Extras } from './storage-contract/cases/sample-changes.ts'
export {
  AUTHOR,
  BOARD,
  block,
  change,
  define,
  grant,
  moveToFront,
  NO_SUBJECT,
  NOON,
  pin,
  removeBadge,
  retire,
} from './storage-contract/cases/sample-changes.ts'
export type { Outcome } from './storage-contract/cases/storage-case.ts'
export { outcomeOf } from './storage-contract/cases/storage-case.ts'
export type { ContractHost, HostTransaction } from './storage-contract/contract-host.ts'
export { storageContract } from './storage-contract/storage-contract.ts'
export type { TestOrganization, TestRepository, TestUser } from './test-world.ts'
export { trackerContract } from './tracker-contract/tracker-contract.ts'
export type { TrackerHost, TrackerUser } from './tracker-contract/tracker-host.ts'
