import { issueDocuments } from '../../../src/exchange/exchange.ts'
import type { Api, ApiOptions, ApiResponse } from '../../../src/http-adapters/http.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import type { Forge, IssueTracker, MaybePromise, SigningKeySource } from '../../../src/index.ts'
import { authenticate } from '../../../src/standalone/authenticate.ts'
import { seedFromFixture } from '../../../src/standalone/fixture/seed-from-fixture.ts'
import type { StandaloneUser } from '../../../src/standalone/host-ports.ts'
import { hostDirectory } from '../../../src/standalone/host-ports.ts'
import type { MemoryHostOptions } from '../../../src/standalone/memory-host.ts'
import { openMemoryHost } from '../../../src/standalone/memory-host.ts'
import { hostPresenter } from '../../../src/standalone/presenter/presenter.ts'
import type { Fixture, Standalone } from '../../../src/standalone/standalone.ts'
import { parseFixture } from '../../../src/standalone/standalone.ts'
import { plainRequest } from '../plain-request.ts'

/** Everyone who can ask. All but the first two are signed in; each collaborates in, or belongs to, whatever there is. */
export const CALLERS = [
  'invalid credential',
  'anonymous',
  'stranger',
  'blocked', // by every organization
  'reader', // of every repository, as are the next two
  'writer',
  'admin',
  'member', // of every organization
  'owner', // of every organization
  'una', // these three own repositories
  'lia',
  'pam',
  'root', // the site admin
] as const
export type Caller = (typeof CALLERS)[number]

/** Who owns repositories: an organization and a user of each visibility. */
export const OWNERS = [
  { name: 'open', kind: 'organization', visibility: 'public' },
  { name: 'insiders', kind: 'organization', visibility: 'limited' },
  { name: 'closed', kind: 'organization', visibility: 'private' },
  { name: 'una', kind: 'user', visibility: 'public' },
  { name: 'lia', kind: 'user', visibility: 'limited' },
  { name: 'pam', kind: 'user', visibility: 'private' },
] as const
export type Owner = (typeof OWNERS)[number]

const organizations = OWNERS.filter(({ kind }) => kind === 'organization')

export const FIXTURE: Fixture = {
  users: [
    ...CALLERS.slice(2).map((username) => ({
      username,
      tokens: [`${username}-token`],
      siteAdmin: username === 'root',
      visibility: OWNERS.find(({ name }) => name === username)?.visibility ?? 'public',
    })),
    { username: 'eve' },
  ],
  organizations: organizations.map(({ name, visibility }) => ({
    name,
    visibility,
    owners: ['owner'],
    members: ['member'],
    blocks: [{ user: 'blocked' }],
  })),
  // Issue 1 and pull request 2 are pinned and unpinned; issue 3 never is.
  repositories: OWNERS.flatMap(({ name: owner }) =>
    ['public', 'private'].map((name) => ({
      owner,
      name,
      private: name === 'private',
      admins: ['admin'],
      writers: ['writer'],
      readers: ['reader'],
      issues: [1, 2, 3].map((index) => ({ index, title: `Number ${index}`, poster: 'root', pull: index === 2 })),
    })),
  ),
}

export const KEY: SigningKeySource = {
  format: 'ssh',
  publicKey: () => ({ format: 'ssh', text: 'ssh-ed25519 AAAA demo\n', etag: '"abc"' }),
}

/** A request of a caller. */
export interface Asked {
  readonly caller: Caller
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/** Finds out who sends a header. */
type Authenticate = (header: string | undefined) => MaybePromise<StandaloneUser | null>

/** What is wrong with a world that a mistake is planted in. */
export interface Plant {
  readonly policy?: MemoryHostOptions['policy']
  readonly directory?:
    | ((sound: ApiOptions<StandaloneUser>['directory']) => ApiOptions<StandaloneUser>['directory'])
    | undefined
  readonly authenticate?: ((sound: Authenticate) => Authenticate) | undefined
}

/** A host with everything that roles and visibilities can make a difference to. */
export interface AccessWorld {
  readonly forge: Forge<StandaloneUser>
  ask(asked: Asked): Promise<ApiResponse>
  /** How many events there are: one for each change. */
  changes(): Promise<number>
}

export async function openAccessWorld({ policy, ...plant }: Plant = {}): Promise<AccessWorld> {
  const seed = seedFromFixture(parseFixture(FIXTURE), new Date(0))
  const { forge, store } = await openMemoryHost(seed, { signingKey: KEY, policy, issues: noIssues })
  const directory = hostDirectory(store)
  const api: Api<StandaloneUser> = createApi(forge, {
    directory: plant.directory?.(directory) ?? directory,
    present: hostPresenter(store, undefined),
    documents: issueDocuments,
  })
  const sound: Authenticate = (header) => authenticate(store, header)
  return accessWorld({ forge, api, authenticate: plant.authenticate?.(sound) ?? sound })
}

/** Repositories whose issues are not exchanged: who may is what is asked here. */
const noIssues: IssueTracker<StandaloneUser, undefined> = {
  issues: () => [],
  comments: 'none',
  findUsers: (users) => users.map(() => undefined),
  write: () => undefined,
}

/** A host, as it is asked here. */
type AskedHost = Pick<Standalone, 'forge' | 'api'> & { readonly authenticate: Authenticate }

/** The world on a host that has its fixture and its key. */
export function accessWorld({ forge, api, authenticate: signIn }: AskedHost): AccessWorld {
  return {
    forge,
    changes: async () => (await forge.events.list({}, { page: 1, limit: 1 })).total,
    async ask({ caller, method, path, body }) {
      const authorization = credentialOf(caller)
      const header = (name: string) => (name === 'authorization' ? authorization : undefined)
      const request = plainRequest({ method, path, header, body })
      return (await api.dispatch(request, () => signIn(authorization))) ?? api.unmatched(request)
    },
  }
}

function credentialOf(caller: Caller): string | undefined {
  if (caller === 'anonymous') return undefined
  return caller === 'invalid credential' ? 'token no-such-token' : `token ${caller}-token`
}
