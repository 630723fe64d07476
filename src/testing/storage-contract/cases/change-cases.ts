import assert from 'node:assert/strict'
import type { EventDraft } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { AGGREGATES, everything, fill } from '../samples/aggregates.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, pin, row } from '../samples/pin-boards.ts'
import { retire, THINGS } from '../samples/retirements.ts'
import type { AggregateSample, Instead } from '../samples/sample.ts'
import { change, left, NO_SUBJECT } from '../samples/sample.ts'
import { meeting } from './gate.ts'
import type { Race } from './race.ts'
import { idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { begunCase, ofReports, outcomeOf, refusing, storageCase } from './storage-case.ts'

/** Cases about a change that succeeds, is refused by a rule, or fails in the host. They apply to every aggregate. */
export const changeCases: readonly StorageCase[] = AGGREGATES.flatMap((one) => [
  forAggregate(one, 'returns the result of its decision and writes the state with its event', async (storage) => {
    const before = await outbox(storage)
    const at = new Date('1999-12-31T23:59:59.999Z')
    const received: unknown[] = []
    const beforeCommit = (written: readonly object[]) => void received.push(...structuredClone(written))
    const { result, events } = await one.alter(storage, {
      by: { actorId: '9007199254740993', at: () => at },
      beforeCommit,
    })
    const [event] = events

    assert.equal(result, 'altered')
    assert.deepEqual(await outbox(storage), [...before, ...events])
    assert.deepEqual(received, events)
    assert.deepEqual([events.length, event?.actorId, event?.at, event?.version], [1, '9007199254740993', at, 1])
    assert.deepEqual(Object.keys(event ?? {}).sort(), ENVELOPE)
  }),

  forAggregate(one, 'writes nothing when the decision returns the same state', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    const received: unknown[] = []
    const instead: Instead = (_decision, state) => left(state)
    const { events } = await one.alter(storage, { instead, beforeCommit: (events) => void received.push(events) })

    assert.deepEqual([events, received], [[], []], 'does not call beforeCommit when nothing changes')
    assert.deepEqual(await everything(storage), before)
  }),

  forAggregate(one, 'writes nothing when the decision or beforeCommit throws, and throws the same', async (storage) => {
    await one.alter(storage)
    const before = await everything(storage)
    for (const thrown of [new Error('no'), undefined, 'a text']) {
      assert.deepEqual(await outcomeOf(() => one.alter(storage, { instead: refusing(thrown) })), { thrown })
      assert.deepEqual(await outcomeOf(() => one.alter(storage, { beforeCommit: refusing(thrown) })), { thrown })
      assert.deepEqual(await everything(storage), before)
    }
    const rejected = await outcomeOf(() => one.alter(storage, { beforeCommit: () => Promise.reject(new Error('no')) }))
    assert.ok('thrown' in rejected, 'a change whose beforeCommit rejects is refused')
    assert.deepEqual(await everything(storage), before)
    await one.alter(storage)
  }),

  ...raceCases(
    `a change of ${one.name} is seen by others when it is committed, and not when it fails right before`,
    prepared(one, async (storage, elsewhere) => {
      await one.alter(storage)
      const before = await everything(elsewhere)
      const seen: Promise<unknown>[] = []
      const beforeCommit = () => {
        seen.push(everything(elsewhere))
        throw new Error('the host says no')
      }
      await outcomeOf(() => one.alter(storage, { beforeCommit }))

      assert.deepEqual(await Promise.all(seen), [before])
      assert.deepEqual(await everything(elsewhere), before)
      for (const each of [elsewhere, storage, elsewhere]) {
        await one.alter(each)
        assert.deepEqual(await everything(storage), await everything(elsewhere))
      }
    }),
  ),

  forAggregate(one, 'fails alone among concurrent changes', async (storage) => {
    const before = await outbox(storage)
    const error = new Error('no')
    const refused = () => one.alter(storage, { instead: refusing(error) })
    const late = () => one.alter(storage, { beforeCommit: refusing(error) })
    const calls = [() => one.alter(storage), refused, late, refused]
    const outcomes = await Promise.all([...calls, ...calls].map((call) => outcomeOf(call)))
    const areMade = outcomes.map((outcome) => 'value' in outcome)

    assert.deepEqual(areMade, [true, false, false, false, true, false, false, false])
    assert.equal((await outbox(storage)).length, before.length + 2)
  }),

  forAggregate(one, 'is decided at the time of its events', async (storage) => {
    const times = [new Date(1000), new Date(2000)]
    const at = () => times.shift() ?? new Date(3000)
    const instead: Instead = (decision, _state, time) => ({ ...decision, result: new Date(time) })
    const { events, result } = await one.alter(storage, { instead, by: { actorId: null, at } })

    assert.deepEqual([result, events[0]?.at, events[0]?.actorId], [new Date(1000), new Date(1000), null])
  }),

  forAggregate(one, 'is not written without a time, or when its caller has aborted', async (storage) => {
    const before = await everything(storage)
    const thrown = new Error('no clock')
    const by = { actorId: '7', at: refusing(thrown) }

    assert.deepEqual(await outcomeOf(() => one.alter(storage, { by })), { thrown })
    assert.deepEqual(await outcomeOf(() => one.alter(storage, { signal: AbortSignal.abort(thrown) })), { thrown })
    assert.deepEqual(await everything(storage), before)
  }),
])

/** Cases about retirements that fail, or are made at once. They apply to every kind of subject. */
export const retirementCases: readonly StorageCase[] = THINGS.flatMap((retired) =>
  [
    storageCase(`retiring the ${retired.thing} is undone when the host throws`, async (storage) => {
      await fill(storage)
      const before = await everything(storage)
      const thrown = new Error('the host says no')
      assert.deepEqual(await outcomeOf(() => retire(storage, retired, { beforeCommit: refusing(thrown) })), { thrown })
      assert.deepEqual(await outcomeOf(() => retire(storage, retired, { record: refusing(thrown) })), { thrown })

      assert.deepEqual(await everything(storage), before)
      assert.equal((await retire(storage, retired)).length, 1)
    }),

    storageCase(`retiring the ${retired.thing} many times concurrently happens once`, async (storage) => {
      await fill(storage)
      const made = await Promise.all(Array.from({ length: 20 }, () => retire(storage, retired)))

      assert.equal(made.flat().length, 1)
    }),
  ].map(ofReports),
)

/** Cases about an event that cannot be stored. */
export const eventCases: readonly StorageCase[] = [0, 2].map((healthy) =>
  storageCase(
    `an event that cannot be stored, after ${healthy} others, rolls back its whole change`,
    async (storage) => {
      await pin(storage, BOARD, '1')
      const before = await everything(storage)
      const thrown = new Error('no data')
      const pinned: EventDraft = { ...NO_SUBJECT, type: 'issue.pinned', data: { position: 1 }, issueId: '2' }
      const data = Object.defineProperty({ position: 1 }, 'position', { get: refusing(thrown), enumerable: true })
      const events = [...Array.from({ length: healthy }, () => pinned), { ...pinned, data }]
      const outcome = await outcomeOf(() =>
        change(storage.pinBoards, BOARD, () => ({ state: [row('2'), row('3')], events, result: 0 })),
      )

      assert.deepEqual(outcome, { thrown })
      assert.deepEqual(await everything(storage), before)
    },
  ),
)

const REASON = new Error('gone')

/** Cases about callers that abort: their change is written completely or not at all, and the result says which. */
export const abortCases: readonly StorageCase[] = [
  storageCase(
    'of many changes whose callers abort before or right after the call, as many are written as report it',
    async (storage) => {
      const work = idsTo(20).map((issueId) => {
        const caller = new AbortController()
        if (Number(issueId) % 2 === 0) caller.abort(REASON)
        const pending = outcomeOf(() => pin(storage, BOARD, issueId, { signal: caller.signal }))
        if (Number(issueId) % 3 === 0) caller.abort(REASON)
        return pending
      })
      const outcomes = await Promise.all(work)
      const written = await issuesOn(storage, BOARD)

      for (const [index, outcome] of outcomes.entries()) {
        assert.equal(written.includes(String(index + 1)), 'value' in outcome)
        if ('thrown' in outcome) assert.equal(outcome.thrown, REASON)
        if ((index + 1) % 2 === 0) assert.ok('thrown' in outcome)
        else if ((index + 1) % 3 > 0) assert.ok('value' in outcome)
      }
    },
  ),

  ...raceCases(
    'a change whose caller aborts while it waits is written or not, as the call reports',
    async (one, other) => {
      const caller = new AbortController()
      await other.pinBoards.load(BOARD) // connects before the second call
      const [, outcome] = await meeting(
        (beforeCommit) => pin(one, BOARD, '1', { beforeCommit }),
        () => pin(other, BOARD, '2', { signal: caller.signal }),
        () => caller.abort(REASON),
      )

      assert.equal((await issuesOn(one, BOARD)).includes('2'), 'value' in outcome)
      if ('thrown' in outcome) assert.equal(outcome.thrown, REASON)
    },
  ),

  begunCase(
    'in a host’s transaction a change whose caller has aborted is not written',
    async (storage, { transaction, commit }) => {
      const signal = AbortSignal.abort(REASON)
      await pin(storage, BOARD, '1', { transaction })

      assert.deepEqual(await outcomeOf(() => pin(storage, BOARD, '2', { transaction, signal })), { thrown: REASON })
      await pin(storage, BOARD, '3', { transaction })
      await commit()
      assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3'])
    },
  ),
]

const ENVELOPE = [
  ...['actorId', 'at', 'data', 'id', 'issueId', 'organizationId', 'repositoryId', 'type', 'userId', 'version'],
]

function forAggregate(
  one: AggregateSample,
  fact: string,
  check: <Tx>(storage: ForgeStorage<Tx>) => Promise<void>,
): StorageCase {
  return storageCase(`a change of ${one.name} ${fact}`, (storage) => prepared(one, check)(storage, storage))
}

/** Creates the data that a sample needs before a check. */
function prepared(one: AggregateSample, check: Race): Race {
  return async (storage, other) => {
    await one.prepare(storage)
    await check(storage, other)
  }
}
