export type { TestForge, TestForgeOptions, TestUser } from './create-test-forge.ts'
export { createTestForge } from './create-test-forge.ts'
