import assert from 'node:assert/strict'
import { block, change, done, grant, pin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, storageCase } from './storage-case.ts'
import { AGGREGATES, AGGREGATES_WITH_EPOCH, everything } from './stores.ts'

const RAISE = { raisesEpoch: true } as const

/** Cases about epochs: a change detects a lifecycle call that ran after the change's look-ups. */
export const epochCases: readonly StorageCase[] = [
  ...AGGREGATES.map((one) =>
    storageCase(`the epoch of ${one.name} is 0 before it exists, and changes do not move it`, async (storage) => {
      assert.equal(await one.epoch(storage), 0)
      await one.prepare(storage)
      await one.alter(storage)
      await one.alter(storage)

      assert.equal(await one.epoch(storage), 0)
    }),
  ),

  ...AGGREGATES_WITH_EPOCH.flatMap((one) => [
    storageCase(`the epoch of ${one.name} is raised on request, even if nothing else changes`, async (storage) => {
      await one.prepare(storage)
      const { events } = await everything(storage)
      done(await one.leave(storage, RAISE))
      assert.equal(await one.epoch(storage), 1)
      assert.deepEqual((await everything(storage)).events, events)
      done(await one.alter(storage, RAISE))

      assert.equal(await one.epoch(storage), 2)
    }),

    storageCase(`the epoch of ${one.name} stays when the change that raises it is refused`, async (storage) => {
      await one.prepare(storage)
      await outcomeOf(() => one.refuse(storage, new Error('no'), RAISE))

      assert.equal(await one.epoch(storage), 0)
    }),

    storageCase(`a change of ${one.name} is stale if the epoch has moved, and writes nothing`, async (storage) => {
      await one.prepare(storage)
      await one.alter(storage)
      const seen = await one.epoch(storage)
      await one.leave(storage, RAISE)
      const before = await everything(storage)

      assert.deepEqual(await one.alter(storage, { seen }), { stale: true })
      assert.deepEqual(await one.leave(storage, { seen, ...RAISE }), { stale: true })
      assert.deepEqual(await everything(storage), before)
    }),

    storageCase(`a change of ${one.name} that read the epoch after it moved is not stale`, async (storage) => {
      await one.prepare(storage)
      await one.leave(storage, RAISE)

      done(await one.alter(storage, { seen: await one.epoch(storage) }))
    }),

    storageCase(`a change of ${one.name} is not stale if only other changes were made`, async (storage) => {
      await one.prepare(storage)
      const seen = await one.epoch(storage)
      await one.alter(storage)
      await one.alter(storage)

      done(await one.alter(storage, { seen }))
    }),

    storageCase(`a change of ${one.name} that expects no epoch is never stale`, async (storage) => {
      await one.prepare(storage)
      await one.leave(storage, RAISE)

      done(await one.alter(storage, { seen: undefined }))
    }),
  ]),

  storageCase('blocks have one epoch per organization, for every user', async (storage) => {
    await change(storage.blocks, { organizationId: '20', userId: '30' }, left, RAISE)

    assert.equal(await storage.blocks.epoch({ organizationId: '20', userId: '31' }), 1)
    assert.equal(await storage.blocks.epoch({ organizationId: '21', userId: '30' }), 0)
    assert.deepEqual(await change(storage.blocks, { organizationId: '20', userId: '31' }, left, { seen: 0 }), {
      stale: true,
    })
    await block(storage, '21', '30', { seen: 0 })
  }),

  storageCase('badges have one epoch per user, for all slugs', async (storage) => {
    await change(storage.userBadges, { userId: '30', slugs: ['a'] }, left, RAISE)

    assert.equal(await storage.userBadges.epoch({ userId: '30', slugs: ['b', 'c'] }), 1)
    assert.equal(await storage.userBadges.epoch({ userId: '31', slugs: ['a'] }), 0)
    await grant(storage, '31', [], { seen: 0 })
  }),

  storageCase('pin boards have one epoch per repository and kind', async (storage) => {
    await change(storage.pinBoards, { repositoryId: '10', kind: 'issue' }, left, RAISE)

    assert.equal(await storage.pinBoards.epoch({ repositoryId: '11', kind: 'issue' }), 0)
    await pin(storage, { repositoryId: '11', kind: 'issue' }, '1', { seen: 0 })
  }),
]

function left<State>(state: State): { state: State; events: []; result: undefined } {
  return { state, events: [], result: undefined }
}
