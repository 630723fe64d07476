import assert from 'node:assert/strict'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { AGGREGATES, everything, fill, reads } from '../samples/aggregates.ts'
import { define } from '../samples/badges.ts'
import { block, blockedBy } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../samples/pin-boards.ts'
import { retire, THINGS } from '../samples/retirements.ts'
import { idsTo } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, ofReports, outcomeOf, storageCase } from './storage-case.ts'

/** Cases about the lifetime of a storage, from migration to close, and about two storages in one database. */
export const lifeCases: readonly StorageCase[] = [
  storageCase('a migrated storage is current, and migrating again changes nothing', async (storage) => {
    assert.equal((await storage.schemaStatus()).state, 'current')
    await pin(storage, BOARD, '1')
    await storage.migrate()
    await Promise.all([storage.migrate(), storage.migrate()])

    assert.deepEqual(await issuesOn(storage, BOARD), ['1'])
    assert.equal((await storage.schemaStatus()).state, 'current')
  }),

  {
    name: 'fresh storages share nothing',
    needs: [],
    async run(open) {
      const [one, other] = [await open(), await open()]
      try {
        await pin(one, BOARD, '1')
        assert.deepEqual(await issuesOn(other, BOARD), [])
      } finally {
        await one.close()
        await other.close()
      }
    },
  },

  storageCase('a storage can be closed twice, even concurrently', async (storage) => {
    await pin(storage, BOARD, '1')
    await Promise.all([storage.close(), storage.close()])
    await storage.close()
  }),

  ofReports(
    storageCase('a closed storage refuses every call', async (storage) => {
      await define(storage, 'a')
      const { cursor } = await storage.events.read({ after: undefined, limit: 10 })
      await storage.close()
      for (const call of callsOn(storage, cursor)) await refusesAsClosed(call)
    }),
  ),

  storageCase('a change requested before the close is either done or refused, never lost', async (storage) => {
    const pending = Array.from({ length: 10 }, (_, n) => outcomeOf(() => pin(storage, BOARD, String(n))))
    await storage.close()

    assert.equal((await Promise.all(pending)).length, 10)
  }),

  ofReports(
    hostCase('two storages in one database do not see each other’s changes', ['beside'], async (storage, bench) => {
      await fill(storage)
      await define(storage, 'night-owl')
      const other = await bench.beside()
      assert.deepEqual(await outbox(other), [])
      const before = await everything(other)
      for (const one of AGGREGATES) await one.alter(storage)
      for (const retired of THINGS) await retire(storage, retired)

      assert.deepEqual(await everything(other), before)
      await fill(other)
      for (const each of [storage, other]) assert.equal((await each.schemaStatus()).state, 'current')
    }),
  ),

  hostCase('two storages in one database change the same things concurrently', ['beside'], async (storage, bench) => {
    const other = await bench.beside()
    const userIds = idsTo(20)
    await Promise.all([storage, other].flatMap((each) => userIds.map((userId) => block(each, '20', userId))))

    for (const each of [storage, other]) {
      assert.deepEqual(new Set(await blockedBy(each, '20')), new Set(userIds))
      assert.equal((await outbox(each)).length, userIds.length)
    }
  }),

  storageCase('a value that is not an open host’s transaction is refused', async (storage) => {
    for (const transaction of [undefined, null, {}, 'transaction']) await refusesToEnter(storage, transaction)
  }),
]

function callsOn<Tx>(storage: ForgeStorage<Tx>, cursor: string): readonly (() => unknown)[] {
  const consumer = { name: 'mail', holder: 'one' }
  return [
    ...reads(storage).map(([, read]) => read),
    ...AGGREGATES.map((one) => () => one.alter(storage)),
    () => storage.events.read({ after: undefined, limit: 10 }),
    () => storage.events.list({}, { from: { page: 1 }, limit: 10 }),
    () => storage.events.claim(consumer, 1000),
    () => storage.events.advance(consumer, cursor),
    () => storage.events.release(consumer),
    () => storage.events.forget('mail'),
    () => storage.events.prune(new Date(0)),
    () => retire(storage, { thing: 'user', userId: '30' }),
  ]
}

/**
 * Requires an error for a closed storage. Callers that retry while a storage is unavailable must see that this one will
 * not return.
 */
async function refusesAsClosed(call: () => unknown): Promise<void> {
  const outcome = await outcomeOf(call)
  assert.ok('thrown' in outcome, 'refused, but it answered')
  const { thrown } = outcome
  assert.ok(isForgeError(thrown, 'STORAGE_UNAVAILABLE'), `STORAGE_UNAVAILABLE, but it threw ${String(thrown)}`)
  assert.equal(thrown.details.closed, true, 'the details of the error say that the storage is closed')
}

async function refusesToEnter<Tx>(storage: ForgeStorage<Tx>, value: unknown): Promise<void> {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: a host in JavaScript may pass any value
  const transaction = value as Tx
  const outcome = await outcomeOf(() => storage.checkTransaction(transaction))
  assert.ok('thrown' in outcome && outcome.thrown instanceof TypeError, `${String(value)} is refused`)
}
