import type { Step } from './step.ts'
import { KINDS, ORGANIZATIONS, REPOSITORIES, USERS } from './world.ts'

/** Reads everything there is, to compare after a step that changed something. */
export const EVERY_READ: readonly Step[] = [
  ...REPOSITORIES.flatMap((repositoryId): readonly Step[] => [
    { call: 'allowed', as: 'system', repositoryId },
    ...KINDS.map((kind): Step => ({ call: 'listPins', as: 'system', repositoryId, kind })),
  ]),
  ...ORGANIZATIONS.flatMap((organizationId): readonly Step[] => [
    { call: 'listBlocks', as: 'system', organizationId, page: 1, limit: 1000 },
    { call: 'filterBlocked', as: 'system', organizationId, userIds: USERS },
  ]),
  ...USERS.map((userId): Step => ({ call: 'heldBy', as: 'system', userId })),
  { call: 'listBadges', as: 'system', page: 1, limit: 1000 },
]
