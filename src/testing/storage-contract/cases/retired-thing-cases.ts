import assert from 'node:assert/strict'
import { outbox } from './contents.ts'
import { fill, refusedAfter, summary, THINGS } from './retirement-samples.ts'
import { retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses, storageCase } from './storage-case.ts'

/** Cases about what the retirement of every kind of subject has in common. */
export const retiredThingCases: readonly StorageCase[] = [
  ...THINGS.flatMap((retired) => [
    storageCase(`retiring the ${retired.thing} is recorded once, with actor and time`, async (storage) => {
      await fill(storage)
      const before = await outbox(storage)
      const at = new Date(1_234_567)
      const times = [at]
      const events = await retire(storage, retired, { by: { actorId: null, at: () => times.shift() ?? new Date(0) } })

      assert.equal(events.length, 1)
      assert.deepEqual([events[0]?.actorId, events[0]?.at, events[0]?.version], [null, at, 1])
      assert.deepEqual(await outbox(storage), [...before, ...events])
    }),

    storageCase(`retiring the ${retired.thing} again changes nothing and calls nothing`, async (storage) => {
      await fill(storage)
      await retire(storage, retired)
      const before = await outbox(storage)
      const asked = () => {
        throw new Error('asked')
      }

      assert.deepEqual(await retire(storage, retired, { record: asked, beforeCommit: asked }), [])
      assert.deepEqual(await outbox(storage), before)
    }),

    storageCase(`retiring the ${retired.thing} when nothing belongs to it is remembered too`, async (storage) => {
      const events = await retire(storage, retired)

      assert.equal(events.length, 1)
      assert.deepEqual(await retire(storage, retired), [])
      for (const [code, call] of refusedAfter(storage, retired)) await refuses(code, call)
    }),

    storageCase(`retiring the ${retired.thing} is rolled back when the host throws`, async (storage) => {
      await fill(storage)
      const before = [await summary(storage), await outbox(storage)]
      const error = new Error('the host says no')
      const no = () => {
        throw error
      }
      assert.deepEqual(await outcomeOf(() => retire(storage, retired, { beforeCommit: no })), { thrown: error })
      assert.deepEqual(await outcomeOf(() => retire(storage, retired, { record: no })), { thrown: error })

      assert.deepEqual([await summary(storage), await outbox(storage)], before)
      assert.equal((await retire(storage, retired)).length, 1)
    }),

    storageCase(`retiring the ${retired.thing} many times concurrently happens once`, async (storage) => {
      await fill(storage)
      const made = await Promise.all(Array.from({ length: 20 }, () => retire(storage, retired)))

      assert.equal(made.flat().length, 1)
    }),

    storageCase(`a retired ${retired.thing} refuses changes`, async (storage) => {
      await fill(storage)
      await retire(storage, retired)
      const before = await outbox(storage)
      for (const [code, call] of refusedAfter(storage, retired)) await refuses(code, call)

      assert.deepEqual(await outbox(storage), before)
    }),
  ]),
]
