// A host that is an ES module, and hands its forge to a plugin that is a CommonJS module.
import { createForge, ForgeError, isForgeError, rolePolicy } from 'forgelet'
import { fetchHandler } from 'forgelet/fetch'
import type { Observer } from 'forgelet/http'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { memoryStorage } from 'forgelet/storage/memory'
import { createTestForge } from 'forgelet/testing'
import { apiOf, badgeApiOf, limitOf, pinnedBy } from './plugin.cjs'

interface User {
  readonly id: number
  readonly admin: boolean
}

const policy = rolePolicy<User>({
  isSiteAdmin: (actor) => actor.admin,
  repositoryRole: async (id, { actor }) => (actor === 'anonymous' || id === '0' ? 'reader' : 'admin'),
  organizationRole: (_id, context) => (context.actor === 'anonymous' ? 'none' : 'stranger'),
})
const observer: Observer = { request: ({ status }) => status, operation: ({ outcome }) => outcome }
const directory = { findAccount: () => undefined, findRepository: () => ({ id: 10 }), findIssue: () => undefined }
const present = { users: () => [], issues: () => [], pullRequests: () => [] }

const forge = createForge({ storage: memoryStorage(), policy, membership: { isMember: () => false }, observer })
const some = createForge({ storage: memoryStorage(), policy, services: ['badges', 'pins'] })

export const apis = [
  createApi(forge, { directory, present }),
  apiOf(forge, { directory, present }),
  createApi(some, { directory, present, services: ['badges'] }),
  badgeApiOf(some, directory),
]
export const handlers = apis.map((api) => [
  nodeHandler(api, {
    authenticate: ({ headers }) => (headers.authorization === undefined ? null : { id: 1, admin: true }),
  }),
  fetchHandler(api, { authenticate: (request: Request) => (request.headers.has('x') ? { id: 1, admin: true } : null) }),
])
export const pinned = [pinnedBy(forge), pinnedBy(some)]
export const limit = limitOf(new ForgeError('PIN_LIMIT_REACHED', 'full', { kind: 'issue', limit: 3 }))
export const slugs = (error: unknown): readonly string[] =>
  isForgeError(error, 'UNKNOWN_BADGE') ? error.details.slugs : []
export const organizationId = createTestForge().then((test): string => test.organization('acme').id)

// @ts-expect-error - blocks need a membership
createForge({ storage: memoryStorage(), policy })
// @ts-expect-error - this forge has no blocks
void some.blocks
// @ts-expect-error - there is no such role
rolePolicy<User>({ isSiteAdmin: () => false, repositoryRole: () => 'boss', organizationRole: () => 'none' })
// @ts-expect-error - a name is not an actor
void forge.pins.pin('olga', { id: 1, repositoryId: 10, kind: 'issue' })
