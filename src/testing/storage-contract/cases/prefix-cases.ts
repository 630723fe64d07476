import assert from 'node:assert/strict'
import { blockedBy, issuesOn, outbox } from './contents.ts'
import { everyKindOfChange } from './event-samples.ts'
import { fill, THINGS } from './retirement-samples.ts'
import { BOARD, block, change, define, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase } from './storage-case.ts'
import { AGGREGATES, everything } from './stores.ts'

/** Cases about two storages in one database under different names: they do not affect each other. */
export const prefixCases: readonly StorageCase[] = [
  hostCase('a storage beside another in one database begins empty', ['beside'], async (storage, bench) => {
    await everyKindOfChange(storage)
    const other = await bench.beside()

    assert.deepEqual(await outbox(other), [])
    assert.equal((await other.schemaStatus()).state, 'current')
    assert.equal((await storage.schemaStatus()).state, 'current')
  }),

  hostCase('two storages in one database do not see each other’s changes', ['beside'], async (storage, bench) => {
    const other = await bench.beside()
    await define(storage, 'night-owl')
    for (const one of AGGREGATES) {
      const before = await everything(other)
      await one.alter(storage)
      assert.deepEqual(await everything(other), before)
    }
    await pin(other, BOARD, '7')

    assert.deepEqual(await issuesOn(other, BOARD), ['7'])
    assert.ok(!(await issuesOn(storage, BOARD)).includes('7'))
  }),

  hostCase(
    'what one of two storages in a database retires remains in the other',
    ['beside'],
    async (storage, bench) => {
      const other = await bench.beside()
      for (const each of [storage, other]) await fill(each)
      const before = await everything(other)
      for (const retired of THINGS) await retire(storage, retired)

      assert.deepEqual(await everything(other), before)
      await pin(other, BOARD, '5')
      await block(other, '20', '5')
    },
  ),

  hostCase('two storages in one database change the same things concurrently', ['beside'], async (storage, bench) => {
    const other = await bench.beside()
    const userIds = Array.from({ length: 20 }, (_, n) => String(n))
    await Promise.all([storage, other].flatMap((each) => userIds.map((userId) => block(each, '20', userId))))

    for (const each of [storage, other]) {
      assert.deepEqual(new Set(await blockedBy(each, '20')), new Set(userIds))
      assert.equal((await outbox(each)).length, userIds.length)
    }
  }),

  hostCase('the epochs of two storages in one database are independent', ['beside'], async (storage, bench) => {
    const other = await bench.beside()
    const key = { organizationId: '20', userId: '30' }
    await change(storage.blocks, key, (state) => ({ state: { ...state, epoch: 1 }, events: [], result: undefined }))

    assert.deepEqual([await storage.blocks.epoch('20'), await other.blocks.epoch('20')], [1, 0])
  }),
]
