export type { AccessToken, CreatedAccessToken } from './access-tokens.ts'
export { createAccessToken, listAccessTokens, revokeAccessToken } from './access-tokens.ts'
export type {
  Fixture,
  FixtureBadge,
  FixtureBlock,
  FixtureIssue,
  FixtureLabel,
  FixtureLimits,
  FixtureOrganization,
  FixtureRepository,
  FixtureUser,
  FixtureVisibility,
} from './fixture/fixture.ts'
export { parseFixture } from './fixture/parse-fixture.ts'
export type { Finding } from './host-store/checks.ts'
export type { DatabaseLocation } from './host-store/open-host-database.ts'
export { inspectDatabase } from './host-store/open-host-database.ts'
export type { StandaloneUser } from './host-store/roles.ts'
export type { FixtureOutcome, Standalone, StandaloneOptions } from './open-standalone.ts'
export { openStandalone } from './open-standalone.ts'
