import assert from 'node:assert/strict'
import type { ForgeEvent } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { outcomeOf } from '../cases/storage-case.ts'
import { BOARD } from './pin-boards.ts'
import type { Choices, Kind } from './sample.ts'
import { change, kind, NO_SUBJECT, NOON } from './sample.ts'

/** A time after all sample changes. */
export const LATER: Date = new Date(NOON.getTime() + 1)

const MAX_EVENTS = 100_000

/** Reads every event of the outbox in pages, from the beginning to the end. */
export async function outbox<Tx>(storage: ForgeStorage<Tx>, limit = 1000): Promise<readonly ForgeEvent[]> {
  const all: ForgeEvent[] = []
  let after: string | undefined
  for (;;) {
    const { events, cursor } = await storage.events.read({ after, limit })
    assert.ok(events.length <= limit, 'a read returns no more than requested')
    if (events.length === 0) return all
    assert.notEqual(cursor, after, 'a cursor advances')
    all.push(...events)
    assert.ok(all.length < MAX_EVENTS, 'the outbox comes to an end')
    after = cursor
  }
}

/** Writes a number of events that are not part of the history. */
export async function note<Tx>(storage: ForgeStorage<Tx>, count: number, at: Date = NOON): Promise<void> {
  const { repositoryId } = BOARD
  const event = { ...NO_SUBJECT, type: 'issue.moved', data: { from: 2, to: 1 }, repositoryId, issueId: '5' } as const
  const events = Array.from({ length: count }, () => event)
  const by = { actorId: '7', at: () => at }
  await change(storage.pinBoards, BOARD, (rows) => ({ state: rows, events, result: undefined }), { by })
}

/** Returns the first thousand events after a cursor, or 'pruned' if some of them were removed. */
export async function eventsOrPruned<Tx>(
  storage: ForgeStorage<Tx>,
  after: string | undefined,
): Promise<readonly ForgeEvent[] | 'pruned'> {
  const read = await outcomeOf(() => storage.events.read({ after, limit: 1000 }))
  if ('value' in read) return read.value.events
  if (isForgeError(read.thrown, 'EVENTS_PRUNED')) return 'pruned'
  throw read.thrown
}

const CONSUMERS: Choices<string> = ['mail', 'Mail']
/** What a consumer does. */
const ACTS: Choices<string> = ['claim', 'read', 'read', 'read', 'move', 'move', 'release', 'forget']
const LEASE_MS = 3_600_000

/** The kinds of drawn changes of the outbox. */
export const outboxKinds: Readonly<Record<string, Kind>> = {
  consume: kind(
    8,
    (draw) => ({
      ...{ name: draw.one(CONSUMERS), holder: draw.one(['one', 'one', 'other']) },
      ...{ limit: 1 + draw.below(30), act: draw.one(ACTS) },
    }),
    async ({ events }, { act, limit, ...consumer }) => {
      if (act === 'release') return events.release(consumer)
      if (act === 'forget') return events.forget(consumer.name)
      if (act === 'move') return events.advance(consumer, (await events.read({ after: undefined, limit })).cursor)

      const claim = await events.claim(consumer, LEASE_MS)
      if (act === 'claim' || claim === undefined) return claim

      const { cursor } = await events.read({ after: claim.cursor, limit })
      return [claim, await events.advance(consumer, cursor)]
    },
  ),
  prune: kind(
    4,
    (draw) => ({ before: new Date(NOON.getTime() + draw.below(120) * 1000), forgotten: draw.some(CONSUMERS) }),
    async ({ events }, { before, forgotten }) => {
      for (const name of forgotten) await events.forget(name)
      return events.prune(before)
    },
  ),
}
