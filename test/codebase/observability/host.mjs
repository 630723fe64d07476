// The host of the programs in docs/observability.md: its organizations cannot be found just now.
import { rolePolicy } from 'forgelet'
import { memoryStorage } from 'forgelet/storage/memory'

export const authenticate = () => null

export const ports = {
  storage: memoryStorage(),
  policy: rolePolicy({ isSiteAdmin: () => false, repositoryRole: () => 'reader', organizationRole: () => 'stranger' }),
  membership: { isMember: () => false },
}

export const routes = {
  directory: {
    findAccount() {
      throw new Error('the accounts are away')
    },
    findRepository: () => ({ id: 10 }),
    findIssue: () => undefined,
  },
  present: { users: () => [], issues: () => [], pullRequests: () => [] },
}
