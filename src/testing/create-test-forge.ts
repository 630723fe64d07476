import type { AccessRequest, Action, Forge, ForgeEvent, ForgeLimits, Id, IssueRef, Logger, Policy } from '../index.ts'
import { parseFixture } from '../standalone/fixture/fixture.ts'
import { fixtureKey } from '../standalone/fixture/fixture-key.ts'
import { seedFromFixture } from '../standalone/fixture/seed-from-fixture.ts'
import type { MemoryHostStore } from '../standalone/host-store/memory-host-store.ts'
import { openMemoryHost } from '../standalone/memory-host.ts'
import { DEFAULT_FIXTURE } from './default-fixture.ts'
import { SettableClock } from './settable-clock.ts'
import { watchedPolicy } from './watched-policy.ts'

/** A user of the fixture, to act as. */
export interface TestUser {
  readonly id: Id
  readonly username: string
}

/** How to make a test forge. */
export interface TestForgeOptions {
  /**
   * As docs/fixture.md tells. Default: site admin `alice`; organization `acme` with owner `olga` and member `mia`; `sam`
   * outside; repository `acme/rocket` with issues 1 to 4 and pull request 5; badges `night-owl` and `first-flight`.
   */
  readonly fixture?: object | undefined
  /** In the place of Gitea's rules over the fixture. */
  readonly policy?: Policy<TestUser> | undefined
  /** Refused whoever asks, except 'system'. Default none. */
  readonly deny?: readonly Action[] | undefined
  /** Default: at most 3 pins of each kind. */
  readonly limits?: ForgeLimits | undefined
  /** Takes warnings and failures, such as those of listeners. Default: `console.error`. False: nowhere. */
  readonly logger?: Logger | false | undefined
  /** Where the clock starts. Default 2026-01-01T00:00:00Z. */
  readonly now?: Date | undefined
}

/** A forge in memory with a clock to set, and what it was asked and did. */
export interface TestForge {
  readonly forge: Forge<TestUser>
  /** Stands still until told; milliseconds. */
  readonly clock: {
    /** From now on it is this time. */
    set(at: Date): void
    /** From now on it is this much later. */
    advance(milliseconds: number): void
  }
  /** Committed since the fixture was loaded, in order. */
  readonly events: readonly ForgeEvent[]
  /** What the policy was asked, in order. */
  readonly asked: readonly AccessRequest[]
  /** @throws TypeError when the fixture has no such user */
  user(name: string): TestUser
  /** @throws TypeError when the fixture has no such issue or pull request */
  issue(path: `${string}/${string}#${number}`): IssueRef
}

/**
 * Makes a forge in memory with a small world in it, to test business rules with: no HTTP, no database, no waiting.
 *
 * @throws ForgeError `INVALID_INPUT` for a fixture with mistakes
 */
export async function createTestForge(options: TestForgeOptions = {}): Promise<TestForge> {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('createTestForge needs options: an object, or nothing')
  }
  const clock = new SettableClock(options.now ?? new Date('2026-01-01T00:00:00Z'))
  const fixture = parseFixture(options.fixture ?? DEFAULT_FIXTURE, options.limits)
  const seed = seedFromFixture(fixture, clock.now())
  const asked: AccessRequest[] = []
  const events: ForgeEvent[] = []

  const { deny = [], limits, logger } = options
  const { forge, store } = await openMemoryHost(seed, {
    clock,
    limits,
    logger,
    signingKey: await fixtureKey(fixture),
    policy: (ordinary) => watchedPolicy(options.policy ?? ordinary, { asked, deny }),
  })
  forge.events.on((event) => events.push(event))
  return {
    forge,
    clock,
    events,
    asked,
    user: (name) => findUser(store, name),
    issue: (path) => findIssue(store, path),
  }
}

function findUser(store: MemoryHostStore, name: string): TestUser {
  const account = store.findAccount(name)
  if (account?.kind === 'user') return { id: account.id, username: account.name }
  throw new TypeError(`the fixture has no user "${name}"`)
}

function findIssue(store: MemoryHostStore, path: string): IssueRef {
  const [, owner = '', name = '', index = ''] = /^([^/]+)\/([^/#]+)#([1-9][0-9]*)$/.exec(path) ?? []
  if (index === '') throw new TypeError(`"${path}" does not name an issue: write it as owner/repository#index`)

  const repository = store.findRepository(owner, name)
  if (repository === undefined) throw new TypeError(`the fixture has no repository "${owner}/${name}"`)

  const issue = store.findIssue(repository.id, Number(index))
  if (issue === undefined) throw new TypeError(`the fixture has no issue "${path}"`)
  return issue
}
