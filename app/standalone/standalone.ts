/** The limits that a fixture is checked against: those of the forge. */
export type { ForgeLimits as FixtureLimits } from 'forgelet'
export type * from './fixture/fixture.ts'
export { parseFixture } from './fixture/parse-fixture.ts'
export type { AccessToken, CreatedAccessToken } from './host-store/accounts.ts'
export {
  createAccessToken,
  createOrganization,
  createRepository,
  createUser,
  listAccessTokens,
  revokeAccessToken,
} from './host-store/accounts.ts'
export type { DatabaseLocation, DatabaseStatus, TableOptions } from './host-store/open-host-database.ts'
export { databaseStatus } from './host-store/open-host-database.ts'
export type { StandaloneUser } from './host-store/roles.ts'
export type { FixtureOutcome, Standalone, StandaloneOptions } from './open-standalone.ts'
export { openStandalone } from './open-standalone.ts'
