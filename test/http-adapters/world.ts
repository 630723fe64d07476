import { issueDocuments } from '../../src/exchange/exchange.ts'
import type { Api, ApiOptions, Directory, Presenter } from '../../src/http-adapters/http.ts'
import { createApi } from '../../src/http-adapters/http.ts'
import type { Forge, ForgeLimits, IssueTracker, SigningKeySource } from '../../src/index.ts'
import { createForge, ForgeError, rolePolicy } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { worldIssues } from './world-issues.ts'

/** A signed-in user of this world. */
export interface Person {
  readonly id: number
  readonly name: string
}

interface Repository {
  readonly id: number
  readonly owner: string
  readonly name: string
  readonly isPrivate: boolean
}

interface Issue {
  readonly id: number
  readonly repositoryId: number
  readonly index: number
  readonly title: string
  readonly kind: 'issue' | 'pullRequest'
}

// Organizations have ids that users have too: the two must never be mixed up.
export const people: readonly Person[] = ['root', 'olga', 'mia', 'ada', 'will', 'rita', 'stan', 'gone'].map(
  (name, index) => ({ id: index + 1, name }),
)
const organizations: readonly Person[] = [
  { id: 6, name: 'acme' },
  { id: 7, name: 'hidden' },
]
const repositories: readonly Repository[] = [
  { id: 1, owner: 'acme', name: 'rocket', isPrivate: false },
  { id: 2, owner: 'acme', name: 'secret', isPrivate: true },
]
/** Issues 1 to 5 and pull requests 6 to 9 of acme/rocket, and issue 1 of acme/secret. */
const numbered: readonly Issue[] = [
  ...[1, 2, 3, 4, 5].map((index) => issue(1, index, 'issue')),
  ...[6, 7, 8, 9].map((index) => issue(1, index, 'pullRequest')),
  issue(2, 1, 'issue'),
]

function issue(repositoryId: number, index: number, kind: Issue['kind']): Issue {
  return { id: repositoryId * 100 + index, repositoryId, index, kind, title: `${kind} ${index}` }
}

const repositoryAdmins = ['olga', 'ada']
const repositoryReaders = ['olga', 'ada', 'will', 'rita']

/** What a test asks for beyond the usual. */
export interface WorldOptions extends Partial<ApiOptions<Person>> {
  readonly forgeLimits?: ForgeLimits | undefined
  readonly signingKey?: SigningKeySource | undefined
  /** Default: a few issues in memory. */
  readonly issues?: IssueTracker<Person, undefined> | undefined
  /** Default: a fresh one in memory. */
  readonly storage?: ForgeStorage<undefined> | undefined
  /** Every port answers with a promise. */
  readonly later?: boolean | undefined
}

/** A small host: people, organizations, repositories, an API over a forge. */
export interface World {
  readonly forge: Forge<Person, undefined>
  readonly api: Api<Person>
  /** Everything that was logged. */
  readonly logged: readonly { readonly level: string; readonly message: string; readonly fields: object }[]
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
    ids.map((id) => people.find((person) => String(person.id) === id && person.name !== 'gone')).map(asUser),
  issues: (ids) => ids.map(asIssue),
  pullRequests: (ids) => ids.map(asIssue),
}

function asUser(person: Person | undefined): object | undefined {
  return person && { id: person.id, login: person.name }
}

function asIssue(id: string): object | undefined {
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

export function openWorld(options: WorldOptions = {}): World {
  const {
    forgeLimits,
    signingKey,
    storage = memoryStorage(),
    later = false,
    issues = worldIssues(readsAddresses),
    ...apiOptions
  } = options
  const logged: { level: string; message: string; fields: object }[] = []
  const log = (level: string) => (message: string, fields: object) => void logged.push({ level, message, fields })
  const clock = aClock()

  const forge = createForge<Person, undefined>({
    storage,
    policy: rolePolicy<Person>({
      isSiteAdmin: (person) => person.name === 'root',
      repositoryRole: (id, { actor }) => repositoryRole(id, nameOf(actor)),
      organizationRole: (id, { actor }) => organizationRole(id, nameOf(actor)),
    }),
    membership: { isMember: ({ userId }) => ['2', '3'].includes(userId) },
    issues,
    limits: forgeLimits,
    signingKey,
    clock,
  })
  const ports = later ? { directory: slow(directory), present: slow(present) } : { directory, present }
  const api = createApi(forge, {
    ...ports,
    newId: () => 'request-1',
    logger: { error: log('error'), warn: log('warn') },
    documents: issueDocuments,
    ...apiOptions,
  })
  return { forge, api, logged }
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

function readsAddresses(repositoryId: string, name: string): boolean {
  return name === 'root' || repositoryRole(repositoryId, name) === 'admin'
}

function repositoryRole(id: string, name: string): 'admin' | 'reader' | 'none' {
  if (repositoryAdmins.includes(name)) return 'admin'
  return id === '1' || repositoryReaders.includes(name) ? 'reader' : 'none'
}

function organizationRole(id: string, name: string): 'owner' | 'member' | 'stranger' | 'none' {
  if (name === 'olga') return 'owner'
  if (name === 'mia') return 'member'
  return id === '6' ? 'stranger' : 'none'
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
