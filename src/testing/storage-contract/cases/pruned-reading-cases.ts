import assert from 'node:assert/strict'
import type { Consumer } from '../../../storage/storage.ts'
import { outbox } from './contents.ts'
import { turns } from './gate.ts'
import { eventsOrPruned, LATER, note, oldestCursorFor } from './prune-samples.ts'
import { idsTo, raceCases } from './race.ts'
import { BOARD, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

const LONG = 3_600_000
const MAIL: Consumer = { name: 'mail', holder: 'one' }

/**
 * Cases about the beginning of the outbox after events were removed: a consumer that misses an event receives an error.
 * Source: docs/storage.md, section 5
 */
export const prunedReadingCases: readonly StorageCase[] = [
  storageCase('reading begins after the last removed event', async (storage) => {
    for (const day of [1, 3, 2, 4]) await note(storage, 1, new Date(`2024-01-0${day}`))
    await storage.events.prune(new Date('2024-01-03'))
    const events = await outbox(storage)

    assert.deepEqual(
      events.map((event) => event.at.getUTCDate()),
      [4],
    )
  }),

  storageCase(
    'a cursor before the oldest event is refused with a cursor to continue from, which works',
    async (storage) => {
      await note(storage, 3)
      const { cursor: early } = await storage.events.read({ after: undefined, limit: 1 })
      const { cursor: last } = await storage.events.read({ after: undefined, limit: 10 })
      await storage.events.prune(LATER)
      await pin(storage, BOARD, '9')
      const oldest = await oldestCursorFor(storage, early)
      const { events } = await storage.events.read({ after: oldest, limit: 10 })

      assert.deepEqual(
        events.map((event) => event.issueId),
        ['9'],
      )
      assert.deepEqual((await storage.events.read({ after: last, limit: 10 })).events, events)
    },
  ),

  storageCase('events added after everything was removed come after every earlier cursor', async (storage) => {
    await note(storage, 3)
    const { cursor } = await storage.events.read({ after: undefined, limit: 10 })
    assert.equal(await storage.events.prune(LATER), 3)
    assert.deepEqual(await storage.events.read({ after: cursor, limit: 10 }), { events: [], cursor })
    await pin(storage, BOARD, '9')

    assert.equal((await storage.events.read({ after: cursor, limit: 10 })).events.length, 1)
    assert.equal((await outbox(storage)).length, 1)
  }),

  storageCase('a consumer that is new after a prune begins at the oldest event', async (storage) => {
    await note(storage, 3)
    await storage.events.prune(LATER)
    await pin(storage, BOARD, '9')
    const claim = await storage.events.claim(MAIL, LONG)
    const { events } = await storage.events.read({ after: claim?.cursor, limit: 10 })

    assert.notEqual(claim, undefined)
    assert.equal(events.length, 1)
    assert.deepEqual(await storage.events.claim(MAIL, LONG), claim)
  }),

  storageCase('the oldest cursor does not move back when older history is removed later', async (storage) => {
    await pin(storage, BOARD, '1')
    const { cursor: early } = await storage.events.read({ after: undefined, limit: 1 })
    await note(storage, 2)
    await storage.events.prune(LATER)
    const oldest = await oldestCursorFor(storage, early)
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, { by: { actorId: '7', at: () => LATER } })
    assert.equal(await storage.events.prune(LATER), 1)

    assert.equal(await oldestCursorFor(storage, early), oldest)
    assert.equal((await outbox(storage)).length, 1)
  }),

  ...raceCases('a reader misses no event while events are removed, or is refused', async (one, other) => {
    await note(one, 1200)
    const all = (await outbox(one)).map((event) => event.id)
    const start = (await one.events.claim(MAIL, LONG))?.cursor
    await one.events.forget(MAIL.name)
    let pruning = true
    const pruned = Promise.resolve(one.events.prune(LATER)).finally(() => {
      pruning = false
    })
    pruned.catch(() => undefined) // awaited below, but a read may fail first
    do {
      const read = await eventsOrPruned(other, start)
      if (read === 'pruned') break
      assert.deepEqual(
        read.map((event) => event.id),
        all.slice(0, read.length),
      )
      assert.equal(read.length, 1000)
      await turns(1)
    } while (pruning)

    assert.equal(await pruned, 1200)
    assert.equal(await eventsOrPruned(other, start), 'pruned')
  }),

  ...raceCases('a consumer created as a prune begins misses no event', async (one, other) => {
    await note(one, 3)
    const [claim, removed] = await Promise.all([one.events.claim(MAIL, LONG), other.events.prune(LATER)])
    assert.ok(claim !== undefined, 'the consumer is created')
    const read = await eventsOrPruned(one, claim.cursor)

    assert.notEqual(read, 'pruned')
    assert.equal(read.length, 3 - removed)
  }),

  ...raceCases('a consumer created while events are removed begins after them', async (one, other) => {
    await note(one, 1200)
    const names = idsTo(20)
    const [removed, ...claims] = await Promise.all([
      Promise.resolve(one.events.prune(LATER)),
      ...names.map(async (name) => other.events.claim({ ...MAIL, name }, LONG)),
    ])
    for (const claim of claims) {
      assert.ok(claim !== undefined, 'every consumer is created')
      assert.notEqual(await eventsOrPruned(other, claim.cursor), 'pruned')
    }

    assert.equal((await one.events.list({}, { from: { page: 1 }, limit: 1 })).total, 1200 - Number(removed))
  }),
]
