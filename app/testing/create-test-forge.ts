import type { AccessRequest, Action, Actor, ForgeEvent, ForgeLimits, ForgeOptions, Logger, Policy } from 'forgelet'
import { createForge } from 'forgelet'
import { memoryStorage } from 'forgelet/storage/memory'
import type { Fixture } from '../standalone/fixture/fixture.ts'
import { fixtureKey, parseFixture } from '../standalone/fixture/parse-fixture.ts'
import type { InsertRows } from '../standalone/host-store/load-fixture.ts'
import { insertFixture } from '../standalone/host-store/load-fixture.ts'
import { hostPolicy } from '../standalone/host-store/roles.ts'
import { run, wait } from '../standalone/steps.ts'
import type { TestForge, TestUser } from './test-world.ts'
import { TestHost, testWorld } from './test-world.ts'

/**
 * The default fixture of a test forge: an admin, an organization with an owner and a member, a user outside the
 * organization, and one repository.
 */
const DEFAULT_FIXTURE: Fixture = {
  users: [
    { username: 'alice', fullName: 'Alice A', siteAdmin: true, tokens: ['alice-token'] },
    { username: 'olga', fullName: 'Olga Owner', tokens: ['olga-token'] },
    { username: 'mia', fullName: 'Mia Member', tokens: ['mia-token'] },
    { username: 'sam', fullName: 'Sam Stranger', tokens: ['sam-token'] },
  ],
  organizations: [{ name: 'acme', owners: ['olga'], members: ['mia'] }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [
        { index: 1, title: 'Read this first', poster: 'mia' },
        { index: 2, title: 'The engine stutters', poster: 'sam' },
        { index: 3, title: 'Paint it red', poster: 'mia' },
        { index: 4, title: 'Land softly', poster: 'sam' },
        { index: 5, title: 'Add fins', poster: 'mia', pull: true },
      ],
    },
  ],
  badges: [
    { slug: 'night-owl', description: 'Ships after midnight' },
    { slug: 'first-flight', description: 'Merged a first change' },
  ],
}

/** The options of `createTestForge`. `User` is the type of the users: those of the fixture, unless you bring your own. */
export interface TestForgeOptions<User extends Actor = TestUser> {
  /**
   * A fixture as docs/fixture.md describes it. The default has the site admin `alice`; the organization `acme` with
   * owner `olga` and member `mia`; `sam`, who is not a member; the repository `acme/rocket` with issues 1 to 4 and pull
   * request 5; and the badges `night-owl` and `first-flight`.
   */
  readonly fixture?: object | undefined
  /** Replaces Gitea's rules over the fixture. */
  readonly policy?: Policy<User> | undefined
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
  readonly beforeCommit?: ForgeOptions<User, undefined>['beforeCommit']
  /** The initial time of the clock. Default 2026-01-01T00:00:00Z. */
  readonly now?: Date | undefined
}

/** Users of your own for a test forge, with everything that your policy reads of them. */
export interface TestForgeUsers<User extends Actor> {
  /**
   * By name. One whom the fixture has by the same name takes that user's place: as member, owner, holder of a badge.
   * Names are case-insensitive.
   */
  readonly users: Readonly<Record<string, User>>
}

/**
 * Creates an in-memory forge with initial data, for tests of business rules. It uses no HTTP, no database and no
 * timers. With `users`, its callers are your own: `createTestForge<User>({ users: { mia: { id: 7 } }, policy })`.
 *
 * @throws ForgeError `INVALID_INPUT` if the fixture has mistakes; TypeError if two of the users have one name or one id
 */
export function createTestForge<User extends Actor>(
  options: TestForgeOptions<User> & TestForgeUsers<User>,
): Promise<TestForge<User>>
export function createTestForge(options?: TestForgeOptions): Promise<TestForge>
export async function createTestForge<User extends Actor>(
  options: (TestForgeOptions<User> & TestForgeUsers<User>) | (TestForgeOptions & { readonly users?: undefined }) = {},
): Promise<TestForge | TestForge<User>> {
  checkOptions(options)
  const fixture = parseFixture(options.fixture ?? DEFAULT_FIXTURE, options.limits)
  if (options.users !== undefined) return openTestForge(options, fixture, usersByName(options.users), 'users has no')

  const users = (fixture.users ?? []).map(({ username }, at) => [username, { id: String(at + 1), username }] as const)
  return openTestForge(options, fixture, usersByName(Object.fromEntries(users)), 'the fixture has no user')
}

type OptionRule = readonly [isValid: (value: unknown) => boolean, expected: string]

/** What each option must be: a test, and a description of what passes it. Those that `createForge` checks pass here. */
const OPTIONS: Readonly<Record<keyof (TestForgeOptions & TestForgeUsers<Actor>), OptionRule>> = {
  fixture: [() => true, ''],
  policy: [
    (value) => isObject(value) && 'authorize' in value && typeof value.authorize === 'function',
    'a policy, with authorize',
  ],
  deny: [Array.isArray, 'a list of actions'],
  limits: [() => true, ''],
  logger: [() => true, ''],
  beforeCommit: [(value) => typeof value === 'function', 'a function'],
  now: [(value) => value instanceof Date, 'a Date'],
  users: [isObject, 'an object of users by their names, such as { mia: { id: 7 } }'],
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A misspelt option would silently have its default. @throws TypeError with the name of the option */
function checkOptions(options: unknown): void {
  const names = Object.keys(OPTIONS).join(', ')
  if (!isObject(options)) throw new TypeError(`createTestForge needs options: an object with ${names}`)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const [, rule] = Object.entries<OptionRule>(OPTIONS).find(([one]) => one === name) ?? []
    if (rule === undefined) throw new TypeError(`createTestForge has no option ${name}: its options are ${names}`)
    const [isValid, expected] = rule
    if (!isValid(value)) throw new TypeError(`createTestForge needs ${name}: ${expected}, or undefined`)
  }
}

/** Users by their names in lower case: names that differ only in case are one. */
function usersByName<User>(users: Readonly<Record<string, User>>): ReadonlyMap<string, User> {
  const byName = new Map(Object.entries(users).map(([name, user]) => [name.toLowerCase(), user]))
  if (byName.size === Object.keys(users).length) return byName
  throw new TypeError('two users of createTestForge have one name: names are case-insensitive')
}

/** @param missing - how the message begins for a name that no user has */
async function openTestForge<User extends Actor>(
  options: TestForgeOptions<User>,
  fixture: Fixture,
  users: ReadonlyMap<string, User>,
  missing: string,
): Promise<TestForge<User>> {
  const { deny = [], limits, logger, beforeCommit } = options
  const clock = settableClock(options.now ?? new Date('2026-01-01T00:00:00Z'))
  const asked: AccessRequest[] = []
  const events: ForgeEvent[] = []
  const host = new TestHost(users)
  const policy = options.policy ?? hostPolicy((request, actor) => host.standing(request, actor))
  let isLoaded = false
  const forge = createForge<User, undefined>({
    clock,
    limits,
    logger,
    signingKey: await fixtureKey(fixture),
    storage: memoryStorage(),
    policy: {
      authorize(request, context) {
        asked.push(request)
        const { action } = request
        return deny.includes(action)
          ? { allow: false, reason: `${action} is denied in this test` }
          : policy.authorize(request, context)
      },
    },
    membership: host,
    // The fixture is not a change that the host makes.
    beforeCommit:
      beforeCommit && ((changes, transaction) => (isLoaded ? beforeCommit(changes, transaction) : undefined)),
  })
  const insert: InsertRows = (table, added) => wait(added.map((row) => host.add(table, row)))
  await run(insertFixture(fixture, { now: clock.now(), insert, forge, userOf: (account) => host.userOf(account) }))
  isLoaded = true
  forge.events.on((event) => events.push(event))
  const user = (name: string): User => {
    const found = users.get(name.toLowerCase())
    if (found === undefined) throw new TypeError(`${missing} "${name}"`)
    return found
  }
  return { forge, clock, events, asked, user, ...testWorld(host, () => clock.now()) }
}

/** Returns a clock that changes only when it is set or advanced. @throws TypeError if a time is not a valid date */
export function settableClock(start: Date): { now(): Date } & TestForge['clock'] {
  let current = valid(start)
  return {
    now: () => new Date(current),
    set(at) {
      current = valid(at)
    },
    advance(milliseconds) {
      current = valid(new Date(current.getTime() + milliseconds))
    },
  }
}

function valid(at: Date): Date {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) throw new TypeError('the clock needs a valid Date')
  return new Date(at)
}
