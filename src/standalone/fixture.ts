import { ForgeError } from '../index.ts'
import { checkFixtureNames } from './fixture-names.ts'
import { checkFixtureShape } from './fixture-shape.ts'

/** Who may see an account: everyone, signed-in users, or (an organization) its members and (a user) nobody but itself. */
export type FixtureVisibility = 'public' | 'limited' | 'private'

/** A user of the fixture. Names are case-insensitive everywhere. */
export interface FixtureUser {
  readonly username: string
  /** Default `""`. */
  readonly fullName?: string | undefined
  /** Default `<username>@example.com`. */
  readonly email?: string | undefined
  /** Shows a placeholder instead of the address. Default false. */
  readonly hideEmail?: boolean | undefined
  /** Default false. */
  readonly siteAdmin?: boolean | undefined
  /** Access tokens in clear; only their SHA-256 is kept. Default none: the user cannot sign in. */
  readonly tokens?: readonly string[] | undefined
  /** Default 'public'. */
  readonly visibility?: FixtureVisibility | undefined
  readonly location?: string | undefined
  readonly website?: string | undefined
  readonly description?: string | undefined
  /** RFC 3339. Default: when the fixture is loaded. */
  readonly createdAt?: string | undefined
}

/** A user kept out by an organization. */
export interface FixtureBlock {
  readonly user: string
  /** Up to 255 characters. Default `""`. */
  readonly note?: string | undefined
}

/** An organization of the fixture. Its name shares one namespace with the users' names. */
export interface FixtureOrganization {
  readonly name: string
  readonly fullName?: string | undefined
  readonly description?: string | undefined
  /** Default 'public'. */
  readonly visibility?: FixtureVisibility | undefined
  /** Users who own it; they are members too. */
  readonly owners?: readonly string[] | undefined
  readonly members?: readonly string[] | undefined
  /** Oldest block first. A member cannot be blocked. */
  readonly blocks?: readonly FixtureBlock[] | undefined
  /** RFC 3339. Default: when the fixture is loaded. */
  readonly createdAt?: string | undefined
}

/** A label that issues of a repository can carry. */
export interface FixtureLabel {
  readonly name: string
  /** Six hexadecimal digits without `#`. Default `cccccc`. */
  readonly color?: string | undefined
  readonly description?: string | undefined
}

/** An issue or pull request of the fixture. */
export interface FixtureIssue {
  /** From 1 up, unique in the repository. */
  readonly index: number
  readonly title: string
  /** The author, a user. */
  readonly poster: string
  readonly body?: string | undefined
  /** Default 'open'. */
  readonly state?: 'open' | 'closed' | undefined
  /** A pull request. Default false. */
  readonly pull?: boolean | undefined
  /** A pull request's source branch. Default `patch-<index>`. */
  readonly branch?: string | undefined
  /** Only writers may comment. Default false. */
  readonly locked?: boolean | undefined
  /** Names of the repository's labels. */
  readonly labels?: readonly string[] | undefined
  readonly assignees?: readonly string[] | undefined
  /** How many comments it has. Default 0. */
  readonly comments?: number | undefined
  /** RFC 3339. Default: as the repository's. */
  readonly createdAt?: string | undefined
  /** RFC 3339. Default: `createdAt`. */
  readonly updatedAt?: string | undefined
  /** RFC 3339. Default: `updatedAt` when the state is closed. */
  readonly closedAt?: string | undefined
}

/** A repository of the fixture. */
export interface FixtureRepository {
  /** A user or an organization. */
  readonly owner: string
  readonly name: string
  readonly description?: string | undefined
  /** Default false. */
  readonly private?: boolean | undefined
  /** Default false. */
  readonly archived?: boolean | undefined
  /** Default `main`. */
  readonly defaultBranch?: string | undefined
  /** Collaborators by role; who stands in two lists has the higher role. */
  readonly admins?: readonly string[] | undefined
  readonly writers?: readonly string[] | undefined
  readonly readers?: readonly string[] | undefined
  readonly labels?: readonly FixtureLabel[] | undefined
  readonly issues?: readonly FixtureIssue[] | undefined
  /** Indexes of the pinned issues and pull requests, first position first; each kind has its own order and limit. */
  readonly pins?: readonly number[] | undefined
  /** RFC 3339. Default: when the fixture is loaded. */
  readonly createdAt?: string | undefined
}

/** A badge of the catalogue, and who holds it. */
export interface FixtureBadge {
  readonly slug: string
  readonly description?: string | undefined
  readonly imageUrl?: string | undefined
  readonly holders?: readonly string[] | undefined
}

/** A small world to start a standalone host with. The page docs/fixture.md has every field. */
export interface Fixture {
  readonly users?: readonly FixtureUser[] | undefined
  readonly organizations?: readonly FixtureOrganization[] | undefined
  readonly repositories?: readonly FixtureRepository[] | undefined
  readonly badges?: readonly FixtureBadge[] | undefined
  /** A key file; a relative path starts at the fixture file for `forgelet serve`, else at the working directory. */
  readonly signingKey?: { readonly file: string } | undefined
}

/** What a fixture is measured against. */
export interface FixtureLimits {
  /** Pins on one board, per kind. Default 3 each. */
  readonly maxPins?: { readonly issue?: number | undefined; readonly pullRequest?: number | undefined } | undefined
}

/**
 * Checks a fixture whole: fields, types, names that point nowhere, duplicates, and what the forge's rules would refuse.
 *
 * @param value - the parsed JSON or YAML
 * @throws ForgeError `INVALID_INPUT` with every violation found, each with its JSON pointer
 */
export function parseFixture(value: unknown, limits: FixtureLimits = {}): Fixture {
  const shape = checkFixtureShape(value)
  const violations = [...shape.violations, ...checkFixtureNames(value, limits)]
  const [first] = violations
  if (shape.fixture !== undefined && first === undefined) return shape.fixture

  const others = violations.length > 1 ? ` (and ${violations.length - 1} more)` : ''
  const text = first === undefined ? 'not a fixture' : `${first.pointer || 'the fixture'}: ${first.message}${others}`
  throw new ForgeError('INVALID_INPUT', `invalid fixture: ${text}`, { violations })
}
