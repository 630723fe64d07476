import { expect, test } from 'vitest'
import { Listeners } from '../../../src/core/events/listeners.ts'
import type { ForgeEvent } from '../../../src/index.ts'

test('every listener gets the events of changes that a listener makes in the order of the changes', () => {
  const listeners = new Listeners({ error: () => undefined, warn: () => undefined })
  const received: string[] = []
  listeners.on(({ id }) => {
    if (id === '1') for (const next of ['2', '3']) listeners.emit([event(next)])
  })
  listeners.on(({ id }) => received.push(id))
  listeners.emit([event('1')])

  expect(received).toEqual(['1', '2', '3'])
})

function event(id: string): ForgeEvent {
  return {
    id,
    type: 'issue.pinned',
    version: 1,
    at: new Date('2026-03-01T12:00:00Z'),
    actorId: '1',
    repositoryId: '10',
    issueId: '101',
    organizationId: null,
    userId: null,
    data: { position: 1 },
  }
}
