import { expect } from 'vitest'
import { replay } from '../model/replay.ts'
import type { Place } from './forge-databases.ts'
import { allEvents, lookedAt } from './forge-databases.ts'
import type { LaneReport, Switch } from './outage-lanes.ts'

/** The ids of a host for what the lanes switch by number. */
export interface HostIds {
  readonly repositoryId: string
  readonly organizationId: string
  /** The id of the issue or the user with this number. */
  of(number: string): string
}

const SAME: HostIds = { repositoryId: '10', organizationId: '20', of: (number) => number }

/** Checks that every switch is as its last answer said, no acknowledged change is missing, and the events make the state. */
export async function holdsWhatWasAcknowledged(
  place: Place,
  { switches }: LaneReport,
  ids: HostIds = SAME,
): Promise<void> {
  await lookedAt(place, async (forge) => {
    const events = await allEvents(forge)
    const { boards, blocks } = replay(events, () => 'board')
    const pinned = (await forge.pins.list('system', { repositoryId: ids.repositoryId, kind: 'issue' })).map(
      (pin) => pin.issueId,
    )
    const page = await forge.blocks.list('system', { organizationId: ids.organizationId, limit: 1000 })
    const blocked = page.items.map((block) => block.userId)
    const times = (type: string, id: string) =>
      events.filter((event) => event.type === type && (event.issueId ?? event.userId) === id).length

    expect(pinned).toEqual(boards.get('board') ?? [])
    expect(blocked).toEqual(blocks.get(ids.organizationId) ?? [])
    for (const one of switches) {
      const id = ids.of(one.id)
      const isOn = (one.kind === 'pin' ? pinned : blocked).includes(id)
      if (one.isOn !== undefined) expect(isOn, nameOf(one)).toBe(one.isOn)
      const [on, off] = one.kind === 'pin' ? ['issue.pinned', 'issue.unpinned'] : ['user.blocked', 'user.unblocked']
      within(times(on, id), one.counts.on, nameOf(one))
      within(times(off, id), one.counts.off, nameOf(one))
    }
  })
}

function within(count: number, { sure, most }: { readonly sure: number; readonly most: number }, name: string): void {
  expect(count, name).toBeGreaterThanOrEqual(sure)
  expect(count, name).toBeLessThanOrEqual(most)
}

function nameOf({ kind, id }: Switch): string {
  return `${kind} ${id}`
}
