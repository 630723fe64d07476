import assert from 'node:assert/strict'
import type { ForgeEvent } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { BOARD, change, NO_SUBJECT, NOON } from './sample-changes.ts'
import { outcomeOf } from './storage-case.ts'

/** A time after all sample changes. */
export const LATER: Date = new Date(NOON.getTime() + 1)

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
  try {
    return (await storage.events.read({ after, limit: 1000 })).events
  } catch (error) {
    if (isForgeError(error, 'EVENTS_PRUNED')) return 'pruned'
    throw error
  }
}

/** Returns the cursor from which a reader should continue after its events were removed. */
export async function oldestCursorFor<Tx>(storage: ForgeStorage<Tx>, after: string): Promise<string> {
  const outcome = await outcomeOf(() => storage.events.read({ after, limit: 10 }))
  assert.ok('thrown' in outcome && isForgeError(outcome.thrown, 'EVENTS_PRUNED'))
  return outcome.thrown.details.oldest
}
