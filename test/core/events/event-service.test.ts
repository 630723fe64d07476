import { describe, expect, test } from 'vitest'
import type { EventListFilter, Forge, ForgeEvent } from '../../../src/index.ts'
import type { Person } from '../a-forge.ts'
import { aForge, mia, olga } from '../a-forge.ts'

const issue = { id: '7', repositoryId: '10', kind: 'issue' } as const

/** What a listener of a forge receives. */
function receivedBy(forge: Forge<Person, undefined>): readonly ForgeEvent[] {
  const received: ForgeEvent[] = []
  forge.events.on((event) => received.push(event))
  return received
}

function thrown(): never {
  throw new Error('deaf')
}

describe('listeners', () => {
  test('receive a change once it is committed', async () => {
    const forge = aForge()
    const received = receivedBy(forge)
    await forge.pins.pin(olga, issue)
    expect(received).toEqual([
      {
        id: '1',
        type: 'issue.pinned',
        version: 1,
        at: new Date('2026-01-02T03:04:05Z'),
        actorId: '1',
        organizationId: null,
        repositoryId: '10',
        issueId: '7',
        userId: null,
        data: { position: 1 },
      },
    ])
  })

  test('receive nothing once they are removed', async () => {
    const forge = aForge()
    const received: ForgeEvent[] = []
    forge.events.on((event) => received.push(event))()
    await forge.pins.pin(olga, issue)
    expect(received).toEqual([])
  })

  test.each([
    ['throw', () => thrown()],
    ['reject', async () => thrown()],
  ])('that %s are logged and stop no other', async (_how, listener) => {
    const logged: string[] = []
    const forge = aForge({ logger: { error: (message) => logged.push(message), warn: () => undefined } })
    forge.events.on(listener)
    const received = receivedBy(forge)
    await forge.pins.pin(olga, issue)
    await new Promise((resolve) => setImmediate(resolve))
    expect([logged, received.map((event) => event.type)]).toEqual([['an event listener failed'], ['issue.pinned']])
  })
})

describe('a listener', () => {
  test('and a logger that fail leave the change as it is', async () => {
    const forge = aForge({ logger: { error: thrown, warn: thrown } })
    forge.events.on(thrown)
    expect(await forge.pins.pin(olga, issue)).toMatchObject({ position: 1 })
  })

  test('that makes a change leaves the order of the events to all listeners', async () => {
    const forge = aForge()
    const received: string[] = []
    const note = (name: string) => (event: ForgeEvent) => received.push(`${name} ${event.id} ${event.type}`)
    forge.events.on(note('first'))
    forge.events.on((event) => (event.type === 'issue.pinned' ? forge.pins.unpin(mia, issue) : undefined))
    forge.events.on(note('last'))
    await forge.pins.pin(olga, issue)
    expect(received).toEqual([
      'first 1 issue.pinned',
      'last 1 issue.pinned',
      'first 2 issue.unpinned',
      'last 2 issue.unpinned',
    ])
  })

  test('that is added during a notification is notified from the next event on', async () => {
    const forge = aForge()
    const received: string[] = []
    const stop = forge.events.on(() => {
      stop()
      forge.events.on((event) => received.push(event.type))
    })
    await forge.pins.pin(olga, issue)
    await forge.pins.unpin(olga, issue)
    expect(received).toEqual(['issue.unpinned'])
  })

  test('must be a function', () => {
    expect(() => aForge().events.on('listen' as unknown as () => void)).toThrow(TypeError)
  })
})

describe('the audit list', () => {
  test('shows the newest first, narrowed by what is given', async () => {
    const forge = aForge()
    await forge.pins.pin(olga, issue)
    await forge.blocks.block(mia, { organizationId: 5, account: { kind: 'user', id: 9 } })
    await forge.pins.unpin(mia, issue)
    const ids = async (filter: EventListFilter) => (await forge.events.list(filter)).items.map((event) => event.id)
    expect(await ids({})).toEqual(['3', '2', '1'])
    expect(await ids({ actorId: 2 })).toEqual(['3', '2'])
    expect(await ids({ organizationId: 5 })).toEqual(['2'])
    expect(await ids({ userId: 9 })).toEqual(['2'])
    expect(await ids({ repositoryId: 10, types: ['issue.pinned'] })).toEqual(['1'])
  })
})

describe('beforeCommit', () => {
  test('sees the events before they are committed, and rolls the change back by throwing', async () => {
    const seen: string[] = []
    const forge = aForge({
      beforeCommit(events) {
        seen.push(...events.map((event) => event.type))
        throw new Error('not now')
      },
    })
    await expect(forge.pins.pin(olga, issue)).rejects.toThrow('not now')
    expect(seen).toEqual(['issue.pinned'])
    expect(await forge.pins.list(olga, issue)).toEqual([])
    expect((await forge.events.read()).events).toEqual([])
  })

  test('is refused a promise where nothing may wait, and the change with it', async () => {
    const forge = aForge({ beforeCommit: async () => undefined })
    await expect(forge.pins.pin(olga, issue)).rejects.toThrow(TypeError)
    expect(await forge.pins.list(olga, issue)).toEqual([])
  })
})
