import assert from 'node:assert/strict'
import type { Consumer } from '../../../storage/storage.ts'
import { eventsOrPruned, LATER, note, outbox } from '../samples/outbox.ts'
import { BOARD, pin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { turns } from './gate.ts'
import { idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

const LONG = 3_600_000
const MAIL: Consumer = { name: 'mail', holder: 'one' }

/**
 * Cases about the events that a prune removes and keeps, and about readers that miss some: they receive an error.
 * Source: docs/storage.md, section 5
 */
export const pruneCases: readonly StorageCase[] = [
  ...raceCases('two concurrent prunes remove every event once', async (one, other) => {
    await note(one, 1200)
    await pin(one, BOARD, '1')
    const removed = await Promise.all([one, other].map(async (storage) => storage.events.prune(LATER)))

    assert.equal((removed[0] ?? 0) + (removed[1] ?? 0), 1200)
    assert.equal((await one.events.list({}, { from: { page: 1 }, limit: 2000 })).items.length, 1)
  }),

  storageCase('the history of a deleted issue is removed, and no cursor moves back', async (storage) => {
    await pin(storage, BOARD, '1')
    const { cursor: early } = await storage.events.read({ after: undefined, limit: 1 })
    await note(storage, 2)
    assert.equal(await storage.events.prune(LATER), 2)
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, { by: { actorId: '7', at: () => LATER } })
    assert.equal(await storage.events.prune(LATER), 1)

    assert.equal(await eventsOrPruned(storage, early), 'pruned')
    assert.deepEqual(await storage.events.history('1'), [])
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

    assert.equal((await one.events.list({}, { from: { page: 1 }, limit: 2000 })).items.length, 1200 - Number(removed))
  }),
]
