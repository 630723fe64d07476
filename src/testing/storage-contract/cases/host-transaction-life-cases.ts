import assert from 'node:assert/strict'
import { issuesOn, outbox } from './contents.ts'
import { fill, THINGS } from './retirement-samples.ts'
import { BOARD, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'
import { everything } from './stores.ts'

/** Cases about lifecycle calls inside a transaction of the host, and about its end. */
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
