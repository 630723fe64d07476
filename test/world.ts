import type { Fixture } from '../app/standalone/standalone.ts'
import { issueDocuments } from '../src/exchange/exchange.ts'
import type { Api, ApiOptions, Directory, Presenter } from '../src/http-adapters/http.ts'
import { createApi } from '../src/http-adapters/http.ts'
import type {
  Forge,
  ForgeLimits,
  ForgeOptions,
  IssueRecord,
  IssueTracker,
  OrganizationRole,
  Policy,
  RepositoryRole,
  SigningKeySource,
  TakenNumber,
} from '../src/index.ts'
import { createForge, ForgeError, rolePolicy } from '../src/index.ts'
import { memoryStorage } from '../src/storage/memory.ts'
import type { ForgeStorage } from '../src/storage/storage.ts'

// The people, organizations and repositories of the tests: as a small host in memory (`openWorld`), and as a fixture of
// `forgelet serve` (`worldFixture`).
//
// root is the site admin. olga owns the organizations acme and hidden, mia is a member of both. ada administers acme/rocket and
// acme/secret; will and rita may read acme/secret. stan is a stranger to all of that; "gone" is a user whom the host has deleted.

/** Someone who is signed in. The token of everyone is their name. */
export interface Person {
  readonly id: number
  readonly name: string
}

// Organizations have ids that users have too: the two must never be mixed up.
export const people: readonly Person[] = ['root', 'olga', 'mia', 'ada', 'will', 'rita', 'stan', 'gone'].map(
  (name, index) => ({ id: index + 1, name }),
)
const organizations: readonly Person[] = [
  { id: 6, name: 'acme' },
  { id: 7, name: 'hidden' },
]
const repositories = [
  { id: 1, owner: 'acme', name: 'rocket', isPrivate: false },
  { id: 2, owner: 'acme', name: 'secret', isPrivate: true },
]
/** Issues 1 to 5 and pull requests 6 to 9 of acme/rocket, and issue 1 of acme/secret. */
const numbered = [
  ...[1, 2, 3, 4, 5].map((index) => numberedThing(1, index, 'issue')),
  ...[6, 7, 8, 9].map((index) => numberedThing(1, index, 'pullRequest')),
  numberedThing(2, 1, 'issue'),
]

function numberedThing(repositoryId: number, index: number, kind: 'issue' | 'pullRequest') {
  return { id: repositoryId * 100 + index, repositoryId, index, kind, title: `${kind} ${index}` }
}

function repositoryRole(id: string, name: string): RepositoryRole {
  if (['olga', 'ada'].includes(name)) return 'admin'
  return id === '1' || ['will', 'rita'].includes(name) ? 'reader' : 'none'
}

function organizationRole(id: string, name: string): OrganizationRole {
  if (name === 'olga') return 'owner'
  if (name === 'mia') return 'member'
  return id === '6' ? 'stranger' : 'none'
}

/** What a test asks for beyond the usual. */
export interface WorldOptions
  extends Partial<ApiOptions<Person>>,
    Pick<Partial<ForgeOptions<Person, undefined>>, 'logger' | 'newId' | 'observer'> {
  readonly forgeLimits?: ForgeLimits | undefined
  readonly signingKey?: SigningKeySource | undefined
  /** Default: the roles of the people. */
  readonly policy?: Policy<Person, undefined> | undefined
  /** Default: `worldIssues()`. */
  readonly issues?: IssueTracker<Person, undefined> | undefined
  /** Default: a fresh one in memory. */
  readonly storage?: ForgeStorage<undefined> | undefined
  /** Every port answers with a promise. */
  readonly later?: boolean | undefined
}

/** A small host: a forge, an API over it, and everything that was logged. */
export interface World {
  readonly forge: Forge<Person, undefined>
  readonly api: Api<Person>
  readonly logged: readonly { readonly level: string; readonly message: string; readonly fields: object }[]
}

export function openWorld(options: WorldOptions = {}): World {
  const logged: { level: string; message: string; fields: object }[] = []
  const log = (level: string) => (message: string, fields: object) => void logged.push({ level, message, fields })
  const {
    forgeLimits,
    signingKey,
    policy = rolesOfPeople,
    storage = memoryStorage(),
    issues = worldIssues(),
    logger = { error: log('error'), warn: log('warn') },
    newId = () => 'request-1',
    observer,
    later,
    ...apiOptions
  } = options

  const forge = createForge<Person, undefined>({
    storage,
    policy,
    membership: { isMember: ({ userId }) => ['2', '3'].includes(userId) },
    issues,
    limits: forgeLimits,
    signingKey,
    clock: aClock(),
    logger,
    newId,
    observer,
  })
  const ports = later === true ? { directory: slow(directory), present: slow(present) } : { directory, present }
  const api = createApi(forge, { ...ports, documents: issueDocuments, ...apiOptions })
  return { forge, api, logged }
}

const rolesOfPeople = rolePolicy<Person>({
  isSiteAdmin: (person) => person.name === 'root',
  repositoryRole: (id, { actor }) => repositoryRole(id, nameOf(actor)),
  organizationRole: (id, { actor }) => organizationRole(id, nameOf(actor)),
})

/** A world for a wire case: its badges are defined. */
export async function openCase(options: WorldOptions = {}): Promise<World> {
  const world = openWorld(options)
  for (const badge of BADGES) await world.forge.badges.catalogue.define('system', badge)
  return world
}

/** Goes on by a second with every look. */
function aClock(): { now(): Date } {
  let time = Date.UTC(2026, 0, 1)
  return {
    now() {
      time += 1000
      return new Date(time)
    },
  }
}

function nameOf(actor: Person | 'anonymous'): string {
  return actor === 'anonymous' ? '' : actor.name
}

/** The same ports, answering later. */
function slow<T extends object>(ports: T): T {
  return new Proxy(ports, {
    get: (target, name) => {
      const port: unknown = Reflect.get(target, name)
      return typeof port === 'function' ? async (...given: unknown[]) => port(...given) : port
    },
  })
}

/** The ports of the host: whole on purpose, so that a test can replace a part. */
export const directory: Directory<Person> = {
  findAccount(name) {
    const user = people.find((person) => person.name === name.toLowerCase())
    if (user !== undefined) return { kind: 'user', id: user.id }
    const organization = organizations.find((one) => one.name === name.toLowerCase())
    return organization && { kind: 'organization', id: organization.id }
  },
  findRepository: (owner, name) =>
    repositories.find((one) => one.owner === owner.toLowerCase() && one.name === name.toLowerCase()),
  findIssue: (repositoryId, index) =>
    numbered.find((one) => String(one.repositoryId) === repositoryId && one.index === index),
}

export const present: Presenter<Person> = {
  users: (ids) =>
    ids.map((id) => {
      const person = people.find((one) => String(one.id) === id && one.name !== 'gone')
      return person && { id: person.id, login: person.name }
    }),
  issues: (ids) => ids.map(shownIssue),
  pullRequests: (ids) => ids.map(shownIssue),
}

function shownIssue(id: string): object | undefined {
  const found = numbered.find((one) => String(one.id) === id)
  return found && { number: found.index, pin_order: 99, title: found.title }
}

/** Who sends this `Authorization` header. */
export function authenticate(header: string | undefined): Person | null {
  if (header === undefined) return null
  const person = people.find(({ name }) => header === `token ${name}`)
  if (person === undefined) throw new ForgeError('INVALID_CREDENTIALS', `no such token: ${header}`)
  return person
}

export const sshKey: SigningKeySource = {
  format: 'ssh',
  publicKey: () => ({ format: 'ssh', text: 'ssh-ed25519 AAAA demo\n', etag: '"abc"' }),
}
export const openpgpKey: SigningKeySource = {
  format: 'openpgp',
  publicKey: () => ({ format: 'openpgp', text: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n', etag: '"def"' }),
}
export const unreadableKey: SigningKeySource = {
  format: 'ssh',
  publicKey: () => {
    throw new ForgeError('SIGNING_KEY_UNREADABLE', 'cannot read /etc/secret/key')
  },
}

/** An issue of the world, as a document has it. */
export function issueRecord(number: number, more: Partial<IssueRecord> = {}): IssueRecord {
  return {
    number,
    poster_id: 8,
    poster_name: 'stan',
    poster_email: 'stan@example.com',
    title: `issue ${number}`,
    content: '',
    state: 'open',
    is_locked: false,
    created: '2026-01-02T03:04:05Z',
    updated: '2026-01-02T03:04:05Z',
    ...more,
  }
}

/** The issues of the world, in memory; an admin of the repository sees the addresses of their authors. */
export function worldIssues(): IssueTracker<Person, undefined> {
  const known = new Map<string, Map<number, IssueRecord | TakenNumber>>()
  for (const { repositoryId, index, kind } of numbered) {
    const record = kind === 'issue' ? issueRecord(index) : { number: index, taken: true as const }
    issuesOf(String(repositoryId)).set(index, record)
  }
  function issuesOf(repositoryId: string): Map<number, IssueRecord | TakenNumber> {
    const issues = known.get(repositoryId) ?? new Map<number, IssueRecord | TakenNumber>()
    known.set(repositoryId, issues)
    return issues
  }

  return {
    issues(query, { actor }) {
      const all = [...issuesOf(query.repositoryId).values()].sort((one, other) => one.number - other.number)
      const asked =
        'numbers' in query
          ? all.filter(({ number }) => query.numbers.includes(number))
          : all.filter(({ number }) => number > query.after).slice(0, query.limit)
      const name = actor === 'system' ? 'root' : nameOf(actor)
      if (name === 'root' || repositoryRole(query.repositoryId, name) === 'admin') return asked
      return asked.map(withoutAddress)
    },
    comments: 'none',
    findUsers: (users) => users.map(({ name }) => (name === 'stan' ? '7' : undefined)),
    write({ repositoryId, create, update }) {
      for (const { record } of [...create, ...update]) issuesOf(repositoryId).set(record.number, record)
    },
  }
}

function withoutAddress(issue: IssueRecord | TakenNumber): IssueRecord | TakenNumber {
  if ('taken' in issue) return issue

  const { poster_email: _, ...shown } = issue
  return shown
}

/** The badges that a test of the wire finds defined. */
export const BADGES: readonly { slug: string; description: string; imageUrl: string }[] = ['night-owl', 'founder'].map(
  (slug) => ({ slug, description: `The ${slug}`, imageUrl: `https://example.com/${slug}.png` }),
)

const createdAt = '2026-01-01T00:00:00Z'

/** The same people, organizations, repositories and badges as a fixture of the standalone host. */
export const worldFixture: Fixture = {
  users: people.map(({ name }) => ({ username: name, tokens: [name], siteAdmin: name === 'root', createdAt })),
  organizations: [
    { name: 'acme', owners: ['olga'], members: ['mia'], createdAt },
    { name: 'hidden', visibility: 'private', owners: ['olga'], members: ['mia'], createdAt },
  ],
  repositories: repositories.map(({ id, owner, name, isPrivate }) => ({
    owner,
    name,
    private: isPrivate,
    admins: ['ada'],
    readers: isPrivate ? ['will', 'rita'] : [],
    issues: numbered
      .filter(({ repositoryId }) => repositoryId === id)
      .map(({ index, kind, title }) => ({ index, title, pull: kind === 'pullRequest', poster: 'stan', createdAt })),
    createdAt,
  })),
  badges: BADGES,
}
