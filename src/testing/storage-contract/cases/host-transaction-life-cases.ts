import assert from 'node:assert/strict'
import { issuesOn, outbox } from './contents.ts'
import { fill, THINGS } from './retirement-samples.ts'
import { BOARD, change, done, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'
import { AGGREGATES_WITH_EPOCH, everything } from './stores.ts'

const KEY = { organizationId: '20', userId: '30' }

/** Cases about lifecycle calls and epoch checks inside a transaction of the host, and about its end. */
export const hostTransactionLifeCases: readonly StorageCase[] = [
  ...THINGS.flatMap((retired) => [
    hostCase(
      `retiring the ${retired.thing} in a host’s transaction is kept when that commits`,
      ['begin'],
      async (storage, bench) => {
        await fill(storage)
        const before = await outbox(storage)
        const { transaction, commit } = await bench.begin()
        const events = await retire(storage, retired, { transaction })
        await commit()

        assert.equal(events.length, 1)
        assert.deepEqual(await outbox(storage), [...before, ...events])
        assert.deepEqual(await retire(storage, retired), [])
      },
    ),

    hostCase(
      `retiring the ${retired.thing} in a host’s transaction is undone when that is rolled back`,
      ['begin'],
      async (storage, bench) => {
        await fill(storage)
        const before = await everything(storage)
        const { transaction, rollback } = await bench.begin()
        await retire(storage, retired, { transaction })
        await rollback()

        assert.deepEqual(await everything(storage), before)
        assert.equal((await retire(storage, retired)).length, 1)
      },
    ),
  ]),

  ...AGGREGATES_WITH_EPOCH.map((one) =>
    hostCase(
      `a change of ${one.name} in a host’s transaction checks the epoch too`,
      ['begin'],
      async (storage, bench) => {
        await one.prepare(storage)
        const { transaction, commit } = await bench.begin()
        done(await one.leave(storage, { transaction, raisesEpoch: true }))

        assert.deepEqual(await one.alter(storage, { transaction, seen: 0 }), { stale: true })
        done(await one.alter(storage, { transaction, seen: 1 }))
        await commit()
        assert.equal(await one.epoch(storage), 1)
      },
    ),
  ),

  hostCase('a read in a host’s transaction sees the epoch that it raised', ['begin'], async (storage, bench) => {
    const { transaction, rollback } = await bench.begin()
    await change(storage.blocks, KEY, (state) => ({ state, events: [], result: 0 }), { transaction, raisesEpoch: true })

    assert.equal(await storage.blocks.epoch(KEY, transaction), 1)
    await rollback()
    assert.equal(await storage.blocks.epoch(KEY), 0)
  }),

  hostCase('an open host’s transaction is accepted, one that has ended is not', ['begin'], async (storage, bench) => {
    const { transaction, commit } = await bench.begin()
    assert.equal(await storage.checkTransaction(transaction), undefined)
    await commit()
    const outcomes = [
      await outcomeOf(() => storage.checkTransaction(transaction)),
      await outcomeOf(() => pin(storage, BOARD, '1', { transaction })),
    ]

    for (const outcome of outcomes) assert.ok('thrown' in outcome && outcome.thrown instanceof TypeError)
    assert.deepEqual(await issuesOn(storage, BOARD), [])
  }),
]
