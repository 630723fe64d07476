export type {
  BegunTransaction,
  ContractCase,
  ContractHost,
  ContractTables,
  FailingPath,
  HostPath,
  KnownHost,
  MountedHost,
  TrackerHost,
  TrackerUser,
  WaitingPath,
} from 'forgelet/contracts'
export { mountContract, storageContract, trackerContract } from 'forgelet/contracts'
export type { TestForgeOptions, TestForgeUsers } from './create-test-forge.ts'
export { createTestForge } from './create-test-forge.ts'
export type { TestForge, TestOrganization, TestRepository, TestUser } from './test-world.ts'
