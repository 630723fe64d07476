import assert from 'node:assert/strict'
import type { Consumer, ForgeStorage } from '../../../storage/storage.ts'
import { outbox } from './contents.ts'
import { LATER, note } from './prune-samples.ts'
import { raceCases } from './race.ts'
import { BOARD, moveToFront, pin, retire, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

const LONG = 3_600_000
const MAIL: Consumer = { name: 'mail', holder: 'one' }

/** Cases about the events that a prune removes and keeps. Source: docs/storage.md, section 5 */
export const pruneCases: readonly StorageCase[] = [
  storageCase('events before a time are removed, and no others', async (storage) => {
    for (const day of [1, 3, 2, 4]) await note(storage, 1, new Date(`2024-01-0${day}`))

    assert.equal(await storage.events.prune(new Date('2024-01-03')), 2)
    assert.deepEqual(await days(storage), [4, 3])
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

  storageCase('the history of an issue is removed after the issue', async (storage) => {
    for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
    await retire(storage, { thing: 'issue', issueId: '1', ...BOARD })
    assert.equal(await storage.events.prune(LATER), 2)

    assert.deepEqual(await storage.events.history('1'), [])
    assert.equal((await storage.events.history('2')).length, 1)
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

  storageCase('thousands of events are removed, and counted', async (storage) => {
    await note(storage, 1300)
    await pin(storage, BOARD, '1')
    await note(storage, 1200)

    assert.equal(await storage.events.prune(LATER), 2500)
    assert.equal((await storage.events.list({}, { from: { page: 1 }, limit: 10 })).total, 1)
  }),

  ...raceCases('two concurrent prunes remove every event once', async (one, other) => {
    await note(one, 1200)
    const removed = await Promise.all([one, other].map(async (storage) => storage.events.prune(LATER)))

    assert.equal((removed[0] ?? 0) + (removed[1] ?? 0), 1200)
  }),
]

async function days<Tx>(storage: ForgeStorage<Tx>): Promise<readonly number[]> {
  const { items } = await storage.events.list({}, { from: { page: 1 }, limit: 100 })
  return items.map((event) => event.at.getUTCDate())
}
