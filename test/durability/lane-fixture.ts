import type { HostIds } from './acknowledged.ts'
import { FIRST_NUMBER, newReport } from './outage-lanes.ts'

/** The numbers of what so many lanes switch. */
function numbersOf(lanes: number): readonly number[] {
  return newReport(lanes).switches.map(({ id }) => Number(id))
}

/** What the lanes switch, as the fixture of a standalone host. */
export function fixtureOfLanes(lanes: number): object {
  const numbers = numbersOf(lanes)
  return {
    users: [
      ...numbers.map((number) => ({ username: `u${number}` })),
      { username: 'root', siteAdmin: true, tokens: ['token'] },
    ],
    organizations: [{ name: 'o20', owners: ['root'] }],
    repositories: [
      {
        owner: 'o20',
        name: 'r10',
        issues: numbers.map((index) => ({ index, title: `Issue ${index}`, poster: 'root' })),
      },
    ],
  }
}

/** The ids that a standalone host assigns to it: from 1 on, in the order of the fixture. */
export function idsOfLanes(lanes: number): HostIds {
  return {
    repositoryId: '1',
    organizationId: String(numbersOf(lanes).length + 2),
    of: (number) => String(Number(number) - FIRST_NUMBER + 1),
  }
}
