import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregate-sample.ts'
import { outbox } from './contents.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, storageCase } from './storage-case.ts'
import { AGGREGATES, everything } from './stores.ts'

/** Cases about a change that succeeds, is refused by a rule, or fails in the host. They apply to every aggregate. */
export const changeCases: readonly StorageCase[] = AGGREGATES.flatMap((one) => [
  forAggregate(one, 'returns the result of its decision and writes the state with its event', async (storage) => {
    const before = await outbox(storage)
    const outcome = await one.alter(storage)
    const after = await outbox(storage)

    assert.equal(outcome.result, 'altered')
    assert.equal(outcome.events.length, 1)
    assert.deepEqual(after, [...before, ...outcome.events])
  }),

  forAggregate(one, 'writes nothing when the decision returns the same state', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    const received: unknown[] = []
    const outcome = await one.leave(storage, { beforeCommit: (events) => void received.push(events) })

    assert.deepEqual(outcome, { result: 'left', events: [] })
    assert.deepEqual(await everything(storage), before)
    assert.deepEqual(received, [], 'does not call beforeCommit when nothing changes')
  }),

  forAggregate(one, 'writes nothing when the decision throws, and throws the same error', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    const error = new Error('no')

    assert.deepEqual(await outcomeOf(() => one.refuse(storage, error)), { thrown: error })
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'writes nothing when beforeCommit throws, and throws the same error', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    const error = new Error('the host says no')
    const outcome = await outcomeOf(() =>
      one.alter(storage, {
        beforeCommit: () => {
          throw error
        },
      }),
    )

    assert.deepEqual(outcome, { thrown: error })
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'writes nothing when beforeCommit rejects', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    const outcome = await outcomeOf(() =>
      one.alter(storage, {
        beforeCommit: async () => {
          throw new Error('the host says no, later')
        },
      }),
    )

    assert.ok('thrown' in outcome, 'the change is refused')
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'succeeds after a change that was rolled back', async (storage) => {
    await outcomeOf(() => one.refuse(storage, new Error('no')))
    await one.alter(storage)

    assert.equal((await outbox(storage)).length, 2)
  }),

  forAggregate(one, 'passes beforeCommit the events it will commit', async (storage) => {
    const received: unknown[] = []
    const { events } = await one.alter(storage, { beforeCommit: (events) => void received.push(...events) })

    assert.deepEqual(received, events)
  }),

  forAggregate(one, 'is invisible from outside before it is committed', async (storage) => {
    const before = await everything(storage)
    const reads: Promise<unknown>[] = []
    await outcomeOf(() =>
      one.alter(storage, {
        beforeCommit: () => {
          reads.push(everything(storage))
          throw new Error('rolled back')
        },
      }),
    )

    assert.deepEqual(await Promise.all(reads), [before])
  }),

  forAggregate(one, 'fails alone among concurrent changes', async (storage) => {
    const outcomes = await Promise.allSettled([
      one.alter(storage),
      one.refuse(storage, new Error('no')),
      one.alter(storage),
      one.alter(storage, {
        beforeCommit: () => {
          throw new Error('the host says no')
        },
      }),
      one.alter(storage),
    ])

    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal((await outbox(storage)).length, 1 + 3)
  }),

  forAggregate(one, 'records actor, time and subject in its event', async (storage) => {
    const at = new Date('1999-12-31T23:59:59.999Z')
    const { events } = await one.alter(storage, { by: { actorId: '9007199254740993', at: () => at } })
    const [event] = events

    assert.equal(event?.actorId, '9007199254740993')
    assert.deepEqual(event?.at, at)
    assert.equal(event?.version, 1)
    assert.deepEqual(Object.keys(event ?? {}).sort(), ENVELOPE)
  }),

  forAggregate(one, 'is decided at the time of its events', async (storage) => {
    const times = [new Date(1000), new Date(2000)]
    const at = () => times.shift() ?? new Date(3000)
    const { events, result } = await one.time(storage, { by: { actorId: null, at } })

    assert.deepEqual(result, new Date(1000))
    assert.deepEqual(
      events.map((event) => event.at),
      [new Date(1000)],
    )
  }),

  forAggregate(one, 'is not written when its caller has aborted', async (storage) => {
    const before = await everything(storage)
    const reason = new Error('the caller has aborted')

    assert.deepEqual(await outcomeOf(() => one.alter(storage, { signal: AbortSignal.abort(reason) })), {
      thrown: reason,
    })
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'has no actor in its event when the host acts itself', async (storage) => {
    const { events } = await one.alter(storage, { by: { actorId: null, at: () => new Date(0) } })

    assert.deepEqual([events[0]?.actorId, events[0]?.at], [null, new Date(0)])
  }),
])

const ENVELOPE = [
  'actorId',
  'at',
  'data',
  'id',
  'issueId',
  'organizationId',
  'repositoryId',
  'type',
  'userId',
  'version',
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
