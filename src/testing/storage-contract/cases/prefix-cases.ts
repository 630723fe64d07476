import assert from 'node:assert/strict'
import { AGGREGATES, everything, fill } from '../samples/aggregates.ts'
import { define } from '../samples/badges.ts'
import { block, blockedBy } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { retire, THINGS } from '../samples/retirements.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase } from './storage-case.ts'

/** Cases about two storages in one database under different names: they do not affect each other. */
export const prefixCases: readonly StorageCase[] = [
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

  hostCase('two storages in one database change the same things concurrently', ['beside'], async (storage, bench) => {
    const other = await bench.beside()
    const userIds = Array.from({ length: 20 }, (_, n) => String(n))
    await Promise.all([storage, other].flatMap((each) => userIds.map((userId) => block(each, '20', userId))))

    for (const each of [storage, other]) {
      assert.deepEqual(new Set(await blockedBy(each, '20')), new Set(userIds))
      assert.equal((await outbox(each)).length, userIds.length)
    }
  }),
]
