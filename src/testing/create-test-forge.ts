import type {
  AccessRequest,
  Action,
  Forge,
  ForgeEvent,
  ForgeLimits,
  ForgeOptions,
  IssueRef,
  Logger,
  Policy,
} from '../index.ts'
import { fixtureKey } from '../standalone/fixture/fixture-key.ts'
import { parseFixture } from '../standalone/fixture/parse-fixture.ts'
import { openMemoryHost } from '../standalone/host-store/memory-host.ts'
import { DEFAULT_FIXTURE } from './default-fixture.ts'
import { SettableClock } from './settable-clock.ts'
import type { TestOrganization, TestRepository, TestUser } from './test-world.ts'
import { testWorld } from './test-world.ts'

/** The options of `createTestForge`. */
export interface TestForgeOptions {
  /**
   * A fixture as docs/fixture.md describes it. The default has the site admin `alice`; the organization `acme` with
   * owner `olga` and member `mia`; `sam`, who is not a member; the repository `acme/rocket` with issues 1 to 4 and pull
   * request 5; and the badges `night-owl` and `first-flight`.
   */
  readonly fixture?: object | undefined
  /** Replaces Gitea's rules over the fixture. */
  readonly policy?: Policy<TestUser> | undefined
  /** Actions that are refused to every caller except 'system'. Default none. */
  readonly deny?: readonly Action[] | undefined
  /** Default: at most 3 pins of each kind. */
  readonly limits?: ForgeLimits | undefined
  /**
   * The logger for warnings and failures, such as those of listeners. Default: `console.error`. False disables logging.
   */
  readonly logger?: Logger | false | undefined
  /**
   * Runs in every change before the commit, as `beforeCommit` of `createForge`. It does not run while the fixture is
   * loaded.
   */
  readonly beforeCommit?: ForgeOptions<TestUser, undefined>['beforeCommit']
  /** The initial time of the clock. Default 2026-01-01T00:00:00Z. */
  readonly now?: Date | undefined
}

/** An in-memory forge with a settable clock. It records its events and the requests to its policy. */
export interface TestForge {
  readonly forge: Forge<TestUser>
  /** A clock that changes only when it is set or advanced. */
  readonly clock: {
    /** Sets the clock to a time. */
    set(at: Date): void
    /** Advances the clock by a number of milliseconds. */
    advance(milliseconds: number): void
  }
  /** The events committed since the fixture was loaded, in order. */
  readonly events: readonly ForgeEvent[]
  /** The requests that the policy received, in order. */
  readonly asked: readonly AccessRequest[]
  /** @throws TypeError if the fixture has no such user */
  user(name: string): TestUser
  /** @throws TypeError if the fixture has no such issue or pull request */
  issue(path: `${string}/${string}#${number}`): IssueRef
  /**
   * Returns the organization with this name. Makes it if it does not exist: public, without owners and members.
   *
   * @throws TypeError if a user has this name; ForgeError `INVALID_INPUT` if it is not a valid name
   */
  organization(name: string): TestOrganization
  /**
   * Returns the repository with this path. Makes it if it does not exist: public and without issues. Makes its owner,
   * as an organization, if that does not exist.
   *
   * @throws ForgeError `INVALID_INPUT` if one of the two is not a valid name
   */
  repository(path: `${string}/${string}`): TestRepository
}

/**
 * Creates an in-memory forge with initial data, for tests of business rules. It uses no HTTP, no database and no
 * timers.
 *
 * @throws ForgeError `INVALID_INPUT` if the fixture has mistakes
 */
export async function createTestForge(options: TestForgeOptions = {}): Promise<TestForge> {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('the options of createTestForge must be an object or omitted')
  }
  if (options.limits === null || !['object', 'undefined'].includes(typeof options.limits)) {
    throw new TypeError('limits of createTestForge must be an object such as { maxNoteLength: 100 }, or omitted')
  }
  const clock = new SettableClock(options.now ?? new Date('2026-01-01T00:00:00Z'))
  const fixture = parseFixture(options.fixture ?? DEFAULT_FIXTURE, options.limits)
  const asked: AccessRequest[] = []
  const events: ForgeEvent[] = []

  const { deny = [], limits, logger, beforeCommit } = options
  const { forge, rows } = await openMemoryHost(fixture, clock.now(), {
    clock,
    limits,
    logger,
    beforeCommit,
    signingKey: await fixtureKey(fixture),
    policy: (ordinary) => watchedPolicy(options.policy ?? ordinary, { asked, deny }),
  })
  forge.events.on((event) => events.push(event))
  return { forge, clock, events, asked, ...testWorld(rows, () => clock.now()) }
}

/** Wraps a policy. The wrapper records each request, and refuses the denied actions without calling the policy. */
function watchedPolicy(
  policy: Policy<TestUser>,
  watch: { readonly asked: AccessRequest[]; readonly deny: readonly Action[] },
): Policy<TestUser> {
  return {
    authorize(request, context) {
      watch.asked.push(request)
      if (watch.deny.includes(request.action))
        return { allow: false, reason: `${request.action} is denied in this test` }

      return policy.authorize(request, context)
    },
  }
}
