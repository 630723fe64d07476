// A host as those write it who have neither ES modules nor strict types, with everything that a port is given.
import { createForge, rolePolicy } from 'forgelet'
import { expressHandler } from 'forgelet/express'
import { createApi } from 'forgelet/http'
import { postgresStorage } from 'forgelet/storage/postgres'
import { trackerContract } from 'forgelet/testing'

interface User {
  id: string
  admin: boolean
}

const read = async (transaction: unknown, text: string): Promise<boolean> => transaction !== undefined && text !== ''

export const forge = createForge({
  storage: postgresStorage('postgres://127.0.0.1/forge', { ids: { user: 'text' } }),
  policy: rolePolicy<User>({
    isSiteAdmin: (actor) => actor.admin,
    repositoryRole: async (id, { actor, transaction }) =>
      (await read(transaction, id)) && actor !== 'anonymous' ? 'admin' : 'none',
    organizationRole: (_id, { actor }) => (actor === 'anonymous' ? 'none' : 'stranger'),
  }),
  membership: { isMember: async ({ userId }, { transaction }) => read(transaction, userId) },
  beforeCommit: async (events, transaction) => void (await read(transaction, events[0]?.type ?? '')),
})

export const api = createApi(forge, {
  directory: {
    findAccount: async (name, { transaction, signal }) =>
      (await read(transaction, name)) && !signal?.aborted ? { kind: 'user', id: name } : undefined,
    findRepository: (owner, name, { transaction }) => (transaction === undefined ? { id: owner + name } : undefined),
    findIssue: (repositoryId, index) => ({ id: String(index), repositoryId, kind: 'issue' as const }),
  },
  present: {
    users: () => [],
    issues: async (ids, { actor }) => ids.map((id) => ({ id, by: actor })),
    pullRequests: () => [],
  },
})
export const handler = expressHandler(api, {
  authenticate: ({ headers }) => (headers.authorization ? { id: '1', admin: true } : null),
})
export const cases = (start: Parameters<typeof trackerContract>[0]): string[] =>
  trackerContract(start).map(({ name }) => name)
