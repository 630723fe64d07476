import assert from 'node:assert/strict'
import type { ForgeEvent } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { Consumer, ForgeStorage } from '../../../storage/storage.ts'
import { outbox } from './contents.ts'
import { turns } from './gate.ts'
import { idsTo, raceCases } from './race.ts'
import { BOARD, change, done, moveToFront, NO_SUBJECT, NOON, pin, retire, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses, storageCase } from './storage-case.ts'

const LONG = 3_600_000
const LATER = new Date(NOON.getTime() + 1)
const MAIL: Consumer = { name: 'mail', holder: 'one' }

/** The removal of old events, and the floor it leaves. */
export const pruneCases: readonly StorageCase[] = [
  storageCase('what was made before a time is removed, and nothing else', async (storage) => {
    for (const day of [1, 3, 2, 4]) await note(storage, 1, new Date(`2024-01-0${day}`))

    assert.equal(await storage.events.prune(new Date('2024-01-03')), 2)
    assert.deepEqual(await days(storage), [4, 3])
    assert.equal(await storage.events.prune(new Date('2024-01-03')), 0)
  }),

  storageCase('reading begins behind the last event that was removed', async (storage) => {
    for (const day of [1, 3, 2, 4]) await note(storage, 1, new Date(`2024-01-0${day}`))
    await storage.events.prune(new Date('2024-01-03'))
    const events = await outbox(storage)

    assert.deepEqual(
      events.map((event) => event.at.getUTCDate()),
      [4],
    )
  }),

  storageCase('a cursor below the floor is told where to go on, and one at the floor goes on', async (storage) => {
    await note(storage, 3)
    const { cursor: early } = await storage.events.read({ after: undefined, limit: 1 })
    const { cursor: last } = await storage.events.read({ after: undefined, limit: 10 })
    await storage.events.prune(LATER)
    await pin(storage, BOARD, '9')
    const floor = await floorToldTo(storage, early)
    const { events } = await storage.events.read({ after: floor, limit: 10 })

    assert.deepEqual(
      events.map((event) => event.issueId),
      ['9'],
    )
    assert.deepEqual((await storage.events.read({ after: last, limit: 10 })).events, events)
  }),

  storageCase('events after everything was removed come after every cursor there was', async (storage) => {
    await note(storage, 3)
    const { cursor } = await storage.events.read({ after: undefined, limit: 10 })
    assert.equal(await storage.events.prune(LATER), 3)
    assert.deepEqual(await storage.events.read({ after: cursor, limit: 10 }), { events: [], cursor })
    await pin(storage, BOARD, '9')

    assert.equal((await storage.events.read({ after: cursor, limit: 10 })).events.length, 1)
    assert.equal((await outbox(storage)).length, 1)
  }),

  storageCase('nothing is removed that a consumer has not behind it', async (storage) => {
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

  storageCase('a name that is new after a prune begins at the floor', async (storage) => {
    await note(storage, 3)
    await storage.events.prune(LATER)
    await pin(storage, BOARD, '9')
    const claim = await storage.events.claim(MAIL, LONG)
    const { events } = await storage.events.read({ after: claim?.cursor, limit: 10 })

    assert.notEqual(claim, undefined)
    assert.equal(events.length, 1)
  }),

  storageCase('the history of a living issue stays', async (storage) => {
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

  storageCase('the history of an issue goes with it', async (storage) => {
    for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD })
    assert.equal(await storage.events.prune(LATER), 2)

    assert.deepEqual(await storage.events.history('1'), [])
    assert.equal((await storage.events.history('2')).length, 1)
  }),

  storageCase('the history of its issues goes with a repository', async (storage) => {
    await pin(storage, BOARD, '1')
    await pin(storage, { ...BOARD, kind: 'pullRequest' }, '2')
    await pin(storage, { ...BOARD, repositoryId: '11' }, '3')
    await retire(storage, { thing: 'repository', repositoryId: BOARD.repositoryId })
    assert.equal(await storage.events.prune(LATER), 3)

    assert.deepEqual([...(await storage.events.history('1')), ...(await storage.events.history('2'))], [])
    assert.equal((await storage.events.history('3')).length, 1)
  }),

  storageCase('a floor is not lowered when older history goes later', async (storage) => {
    await pin(storage, BOARD, '1')
    const { cursor: early } = await storage.events.read({ after: undefined, limit: 1 })
    await note(storage, 2)
    await storage.events.prune(LATER)
    const floor = await floorToldTo(storage, early)
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, { by: { actorId: '7', at: () => LATER } })
    assert.equal(await storage.events.prune(LATER), 1)

    assert.equal(await floorToldTo(storage, early), floor)
    assert.equal((await outbox(storage)).length, 1)
  }),

  storageCase('thousands of events are removed, and counted', async (storage) => {
    await note(storage, 1300)
    await pin(storage, BOARD, '1')
    await note(storage, 1200)

    assert.equal(await storage.events.prune(LATER), 2500)
    assert.equal((await storage.events.list({}, { from: { page: 1 }, limit: 10 })).total, 1)
  }),

  ...raceCases('who reads while events are removed misses none unless told', async (one, other) => {
    await note(one, 1200)
    const all = (await outbox(one)).map((event) => event.id)
    const start = (await one.events.claim(MAIL, LONG))?.cursor
    await one.events.forget(MAIL.name)
    let pruning = true
    const pruned = Promise.resolve(one.events.prune(LATER)).finally(() => {
      pruning = false
    })
    pruned.catch(() => undefined) // awaited below, but a read may fail before
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

  ...raceCases('a name that is made while events are removed begins where they are', async (one, other) => {
    await note(one, 1200)
    const names = idsTo(20)
    const [removed, ...claims] = await Promise.all([
      Promise.resolve(one.events.prune(LATER)),
      ...names.map(async (name) => other.events.claim({ ...MAIL, name }, LONG)),
    ])
    for (const claim of claims) {
      assert.ok(claim !== undefined, 'every name is given')
      assert.notEqual(await eventsOrPruned(other, claim.cursor), 'pruned')
    }

    assert.equal((await one.events.list({}, { from: { page: 1 }, limit: 1 })).total, 1200 - Number(removed))
  }),

  ...raceCases('two that prune at once remove every event once', async (one, other) => {
    await note(one, 1200)
    const removed = await Promise.all([one, other].map(async (storage) => storage.events.prune(LATER)))

    assert.equal((removed[0] ?? 0) + (removed[1] ?? 0), 1200)
  }),
]

/** Writes so many events that are no history. */
async function note<Tx>(storage: ForgeStorage<Tx>, count: number, at = NOON): Promise<void> {
  const { repositoryId } = BOARD
  const event = { ...NO_SUBJECT, type: 'issue.moved', data: { from: 2, to: 1 }, repositoryId, issueId: '5' } as const
  const events = Array.from({ length: count }, () => event)
  const by = { actorId: '7', at: () => at }
  done(await change(storage.pinBoards, BOARD, (rows) => ({ state: rows, events, result: undefined }), { by }))
}

async function days<Tx>(storage: ForgeStorage<Tx>): Promise<readonly number[]> {
  const { items } = await storage.events.list({}, { from: { page: 1 }, limit: 100 })
  return items.map((event) => event.at.getUTCDate())
}

async function eventsOrPruned<Tx>(
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

async function floorToldTo<Tx>(storage: ForgeStorage<Tx>, after: string): Promise<string> {
  await refuses('EVENTS_PRUNED', () => storage.events.read({ after, limit: 10 }))
  const outcome = await outcomeOf(() => storage.events.read({ after, limit: 10 }))
  assert.ok('thrown' in outcome && isForgeError(outcome.thrown, 'EVENTS_PRUNED'))
  return outcome.thrown.details.floor
}
