import assert from 'node:assert/strict'
import type { Consumer, ForgeStorage } from '../../../storage/storage.ts'
import { outbox } from './contents.ts'
import { turns } from './gate.ts'
import { eventsOrPruned, LATER, note, oldestCursorFor } from './prune-samples.ts'
import { idsTo, raceCases } from './race.ts'
import { BOARD, moveToFront, pin, retire, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

const LONG = 3_600_000
const MAIL: Consumer = { name: 'mail', holder: 'one' }

/**
 * Cases about the events that a prune removes and keeps, and about readers that miss some: they receive an error.
 * Source: docs/storage.md, section 5
 */
export const pruneCases: readonly StorageCase[] = [
  storageCase('events before a time are removed, and no others', async (storage) => {
    for (const day of [1, 3, 2, 4]) await note(storage, 1, new Date(`2024-01-0${day}`))

    assert.equal(await storage.events.prune(new Date('2024-01-03')), 2)
    assert.deepEqual(await days(storage), [4, 3])
    assert.equal((await outbox(storage)).length, 1, 'reading begins after the last removed event')
    assert.equal(await storage.events.prune(new Date('2024-01-03')), 0)
  }),

  storageCase('events that a consumer has not passed are not removed', async (storage) => {
    await note(storage, 4)
    const { cursor } = await storage.events.read({ after: undefined, limit: 1 })
    for (const name of ['mail', 'hooks']) await storage.events.claim({ ...MAIL, name }, LONG)
    await storage.events.advance({ ...MAIL, name: 'hooks' }, cursor)
    assert.equal(await storage.events.prune(LATER), 0)
    await storage.events.advance(MAIL, cursor)
    assert.equal(await storage.events.prune(LATER), 1)
    await storage.events.release(MAIL)
    assert.equal(await storage.events.prune(LATER), 0)
    for (const name of ['mail', 'hooks']) await storage.events.forget(name)

    assert.equal(await storage.events.prune(LATER), 3)
  }),

  storageCase('the history of an issue that is not deleted stays', async (storage) => {
    for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
    await moveToFront(storage, BOARD, '2')
    await unpin(storage, BOARD, '2')
    await note(storage, 1)
    const before = await storage.events.history('2')
    assert.equal(await storage.events.prune(LATER), 2)

    assert.equal(before.length, 2)
    assert.deepEqual(await storage.events.history('2'), before)
    assert.equal((await storage.events.history('1')).length, 1)
    assert.deepEqual(await outbox(storage), [])
  }),

  storageCase('the history of its issues is removed after a repository', async (storage) => {
    await pin(storage, BOARD, '1')
    await pin(storage, { ...BOARD, kind: 'pullRequest' }, '2')
    await pin(storage, { ...BOARD, repositoryId: '11' }, '3')
    await retire(storage, { thing: 'repository', repositoryId: BOARD.repositoryId })
    assert.equal(await storage.events.prune(LATER), 3)

    assert.deepEqual([...(await storage.events.history('1')), ...(await storage.events.history('2'))], [])
    assert.equal((await storage.events.history('3')).length, 1)
  }),

  ...raceCases('two concurrent prunes remove every event once', async (one, other) => {
    await note(one, 1200)
    await pin(one, BOARD, '1')
    const removed = await Promise.all([one, other].map(async (storage) => storage.events.prune(LATER)))

    assert.equal((removed[0] ?? 0) + (removed[1] ?? 0), 1200)
    assert.equal((await one.events.list({}, { from: { page: 1 }, limit: 10 })).total, 1)
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

async function days<Tx>(storage: ForgeStorage<Tx>): Promise<readonly number[]> {
  const { items } = await storage.events.list({}, { from: { page: 1 }, limit: 100 })
  return items.map((event) => event.at.getUTCDate())
}
