import type { ForgeEvent } from '../../../index.ts'
import { retirementEvent } from '../../../index.ts'
import type { ForgeStorage, Retired, Retirement } from '../../../storage/storage.ts'
import { BLOCK } from './blocks.ts'
import { BOARD, placeOn } from './pin-boards.ts'
import type { Kind, Run } from './sample.ts'
import { AUTHOR } from './sample.ts'

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
  retire: {
    share: 4,
    draw(draw, names) {
      const [board, issueId] = placeOn(draw, names)
      const retired = draw.one<Retired>([
        { thing: 'issue', issueId, ...board },
        { thing: 'issue', issueId, ...board },
        { thing: 'issue', issueId, ...board },
        { thing: 'user', userId: draw.one(names.users) },
        { thing: 'user', userId: draw.one(names.users) },
        { thing: 'organization', organizationId: draw.one(names.organizations) },
        { thing: 'repository', repositoryId: board.repositoryId },
      ])
      const times = 1 + draw.below(2)
      const run: Run = async (to, extras) => {
        const events: unknown[] = []
        for (let time = 0; time < times; time += 1) events.push(await retire(to, retired, extras))
        return events
      }
      return [{ ...retired, times }, run]
    },
  },
}
