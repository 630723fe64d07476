import type { ForgeEvent } from '../../../index.ts'
import { retirementEvent } from '../../../index.ts'
import type { ForgeStorage, Retired, Retirement } from '../../../storage/storage.ts'
import { BLOCK } from './blocks.ts'
import { BOARD, placeOn } from './pin-boards.ts'
import type { Kind } from './sample.ts'
import { AUTHOR, kind } from './sample.ts'

/** Retires a subject with the event that the lifecycle service emits. Returns the events. */
export async function retire<Tx>(
  storage: ForgeStorage<Tx>,
  retired: Retired,
  extras: Partial<Retirement<Tx>> = {},
): Promise<readonly ForgeEvent[]> {
  return storage.retire({ retired, by: AUTHOR, record: (removed) => retirementEvent(retired, removed), ...extras })
}

/** One subject of each kind, to retire. */
export const THINGS: readonly Retired[] = [
  { thing: 'user', userId: BLOCK.userId },
  { thing: 'organization', organizationId: BLOCK.organizationId },
  { thing: 'repository', repositoryId: BOARD.repositoryId },
  { thing: 'issue', issueId: '2', ...BOARD },
]

/** The drawn retirements, some of them made twice. */
export const retirementKinds: Readonly<Record<string, Kind>> = {
  retire: kind(
    4,
    (draw, names) => {
      const { board, issueId } = placeOn(draw, names)
      const issue: Retired = { thing: 'issue', issueId, ...board }
      const user: Retired = { thing: 'user', userId: draw.one(names.users) }
      const organization: Retired = { thing: 'organization', organizationId: draw.one(names.organizations) }
      const repository: Retired = { thing: 'repository', repositoryId: board.repositoryId }
      const times = 1 + draw.below(2)
      return { retired: draw.one([issue, issue, issue, user, user, organization, repository]), times }
    },
    async (to, { retired, times }, extras) => {
      const events: unknown[] = []
      for (let time = 0; time < times; time += 1) events.push(await retire(to, retired, extras))
      return events
    },
  ),
}
