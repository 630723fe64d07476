// The forge of the other examples of mounting: its users and issues in memory, where yours has tables.
import { createForge, ForgeError, rolePolicy } from 'forgelet'
import { createApi } from 'forgelet/http'
import { memoryStorage } from 'forgelet/storage/memory'

/** Olga runs the site, with the organization acme, the repository acme/rocket and its issues 1 and 2. */
export const users = [
  { id: 1, login: 'olga', token: 'olga-token', admin: true },
  { id: 2, login: 'mia', token: 'mia-token', admin: false },
  { id: 3, login: 'noor', token: 'noor-token', admin: false },
]
const issues = [1, 2].map((number) => ({ id: 100 + number, number, title: `Issue ${number}`, state: 'open' }))

/** Whose `Authorization` header this is. Null is a caller without one: a wrong token must not act as an anonymous caller. */
export function userOf(authorization) {
  if (!authorization) return null
  const user = users.find(({ token }) => authorization === `Bearer ${token}`)
  if (!user) throw new ForgeError('INVALID_CREDENTIALS', 'no such token')
  return user
}

const forge = createForge({
  storage: memoryStorage(), // of a real forge: sqliteStorage(file), postgresStorage(pool), ...
  policy: rolePolicy({
    isSiteAdmin: (user) => user.admin,
    repositoryRole: () => 'reader',
    organizationRole: () => 'stranger',
  }),
  membership: { isMember: () => false },
})

const shown = (ids, rows) => ids.map((id) => rows.find((row) => String(row.id) === id))
export const api = createApi(forge, {
  directory: {
    findAccount(name) {
      if (name === 'acme') return { kind: 'organization', id: 9 }
      const user = users.find(({ login }) => login === name)
      return user && { kind: 'user', id: user.id }
    },
    findRepository: (owner, name) => (`${owner}/${name}` === 'acme/rocket' ? { id: 10 } : undefined),
    findIssue: (repositoryId, index) =>
      issues.some(({ number }) => number === index) ? { id: 100 + index, repositoryId, kind: 'issue' } : undefined,
  },
  present: { users: (ids) => shown(ids, users), issues: (ids) => shown(ids, issues), pullRequests: () => [] },
})
