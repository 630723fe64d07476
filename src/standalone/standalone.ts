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
export { parseFixture } from './fixture/fixture.ts'
export type { StandaloneUser } from './host-ports.ts'
export type { FixtureOutcome, Standalone, StandaloneOptions } from './open-standalone.ts'
export { openStandalone } from './open-standalone.ts'
