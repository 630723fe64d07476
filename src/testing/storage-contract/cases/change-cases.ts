import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregates.ts'
import { AGGREGATES, everything, fill, THINGS } from './aggregates.ts'
import { outbox } from './contents.ts'
import { retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, storageCase } from './storage-case.ts'

/** Cases about a change that succeeds, is refused by a rule, or fails in the host. They apply to every aggregate. */
export const changeCases: readonly StorageCase[] = AGGREGATES.flatMap((one) => [
  forAggregate(one, 'returns the result of its decision and writes the state with its event', async (storage) => {
    const before = await outbox(storage)
    const at = new Date('1999-12-31T23:59:59.999Z')
    const { result, events } = await one.alter(storage, { by: { actorId: '9007199254740993', at: () => at } })
    const [event] = events

    assert.equal(result, 'altered')
    assert.deepEqual(await outbox(storage), [...before, ...events])
    assert.deepEqual([events.length, event?.actorId, event?.at, event?.version], [1, '9007199254740993', at, 1])
    assert.deepEqual(Object.keys(event ?? {}).sort(), ENVELOPE)
  }),

  forAggregate(one, 'writes nothing when the decision returns the same state', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    const received: unknown[] = []
    const { events } = await one.leave(storage, { beforeCommit: (events) => void received.push(events) })

    assert.deepEqual([events, received], [[], []], 'does not call beforeCommit when nothing changes')
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'writes nothing when the decision or beforeCommit throws, and throws the same', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    for (const thrown of [new Error('no'), undefined, 'a text']) {
      const beforeCommit = () => {
        throw thrown
      }
      assert.deepEqual(await outcomeOf(() => one.refuse(storage, thrown)), { thrown })
      assert.deepEqual(await outcomeOf(() => one.alter(storage, { beforeCommit })), { thrown })
      assert.deepEqual(await everything(storage), before)
    }
    await one.alter(storage)
  }),

  forAggregate(one, 'writes nothing when beforeCommit rejects', async (storage) => {
    const before = await everything(storage)
    const outcome = await outcomeOf(() => one.alter(storage, { beforeCommit: () => Promise.reject(new Error('no')) }))

    assert.ok('thrown' in outcome, 'the change is refused')
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'is invisible from outside before it is committed', async (storage) => {
    const before = await everything(storage)
    const reads: Promise<unknown>[] = []
    await outcomeOf(() =>
      one.alter(storage, {
        beforeCommit() {
          reads.push(everything(storage))
          throw new Error('rolled back')
        },
      }),
    )

    assert.deepEqual(await Promise.all(reads), [before])
  }),

  forAggregate(one, 'fails alone among concurrent changes', async (storage) => {
    const beforeCommit = () => {
      throw new Error('the host says no')
    }
    const refusing = () => one.refuse(storage, new Error('no'))
    const calls = [() => one.alter(storage), refusing, () => one.alter(storage, { beforeCommit }), refusing]
    const outcomes = await Promise.all([...calls, ...calls].map((call) => outcomeOf(call)))

    assert.deepEqual(
      outcomes.map((outcome) => 'value' in outcome),
      [true, false, false, false, true, false, false, false],
    )
    assert.equal((await outbox(storage)).length, 1 + 2)
  }),

  forAggregate(one, 'is decided at the time of its events', async (storage) => {
    const times = [new Date(1000), new Date(2000)]
    const at = () => times.shift() ?? new Date(3000)
    const { events, result } = await one.time(storage, { by: { actorId: null, at } })

    assert.deepEqual([result, events[0]?.at, events[0]?.actorId], [new Date(1000), new Date(1000), null])
  }),

  forAggregate(one, 'without a time is not written', async (storage) => {
    const before = await everything(storage)
    const error = new Error('no clock')
    const at = () => {
      throw error
    }

    assert.deepEqual(await outcomeOf(() => one.alter(storage, { by: { actorId: '7', at } })), { thrown: error })
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'is not written when its caller has aborted', async (storage) => {
    const before = await everything(storage)
    const thrown = new Error('the caller has aborted')

    assert.deepEqual(await outcomeOf(() => one.alter(storage, { signal: AbortSignal.abort(thrown) })), { thrown })
    assert.deepEqual(await everything(storage), before)
  }),
])

/** Cases about retirements that fail, or are made at once. They apply to every kind of subject. */
export const retirementCases: readonly StorageCase[] = THINGS.flatMap((retired) => [
  storageCase(`retiring the ${retired.thing} is undone when the host throws`, async (storage) => {
    await fill(storage)
    const before = await everything(storage)
    const thrown = new Error('the host says no')
    const no = () => {
      throw thrown
    }
    assert.deepEqual(await outcomeOf(() => retire(storage, retired, { beforeCommit: no })), { thrown })
    assert.deepEqual(await outcomeOf(() => retire(storage, retired, { record: no })), { thrown })

    assert.deepEqual(await everything(storage), before)
    assert.equal((await retire(storage, retired)).length, 1)
  }),

  storageCase(`retiring the ${retired.thing} many times concurrently happens once`, async (storage) => {
    await fill(storage)
    const made = await Promise.all(Array.from({ length: 20 }, () => retire(storage, retired)))

    assert.equal(made.flat().length, 1)
  }),
])

const ENVELOPE = [
  ...['actorId', 'at', 'data', 'id', 'issueId', 'organizationId', 'repositoryId', 'type', 'userId', 'version'],
]

function forAggregate(
  one: AggregateSample,
  fact: string,
  check: <Tx>(storage: ForgeStorage<Tx>) => Promise<void>,
): StorageCase {
  return storageCase(`a change of ${one.name} ${fact}`, async (storage) => {
    await one.prepare(storage)
    await check(storage)
  })
}
