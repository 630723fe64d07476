import assert from 'node:assert/strict'
import { issuesOn, outbox } from './contents.ts'
import { heldInBeforeCommit, whileWaiting } from './gate.ts'
import { idsTo, raceCases } from './race.ts'
import { BOARD, pin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, storageCase } from './storage-case.ts'
import { AGGREGATES, everything } from './stores.ts'

/** Cases about callers that abort: their change is written completely or not at all, and the result says which. */
export const abortCases: readonly StorageCase[] = [
  ...AGGREGATES.map((one) =>
    storageCase(
      `a change of ${one.name} whose caller aborts right after the call is written or not, as the call reports`,
      async (storage) => {
        await one.prepare(storage)
        const before = await everything(storage)
        const caller = new AbortController()
        const reason = new Error('gone')
        const pending = outcomeOf(() => one.alter(storage, { signal: caller.signal }))
        caller.abort(reason)
        const outcome = await pending

        if ('value' in outcome) assert.equal((await outbox(storage)).length, before.events.length + 1)
        else {
          assert.equal(outcome.thrown, reason)
          assert.deepEqual(await everything(storage), before)
        }
      },
    ),
  ),

  storageCase('of many concurrent changes, those whose callers have aborted are not written', async (storage) => {
    const reason = new Error('gone')
    const work = idsTo(20).map((issueId) =>
      outcomeOf(() =>
        pin(storage, BOARD, issueId, Number(issueId) % 2 === 0 ? { signal: AbortSignal.abort(reason) } : {}),
      ),
    )
    const outcomes = await Promise.all(work)

    assert.deepEqual(
      outcomes.filter((outcome) => 'thrown' in outcome),
      Array.from({ length: 10 }, () => ({ thrown: reason })),
    )
    assert.deepEqual(
      new Set(await issuesOn(storage, BOARD)),
      new Set(idsTo(20).filter((issueId) => Number(issueId) % 2 === 1)),
    )
  }),

  ...raceCases(
    'a change whose caller aborts while it waits is written or not, as the call reports',
    async (one, other) => {
      const caller = new AbortController()
      const reason = new Error('gone')
      await other.pinBoards.load(BOARD) // connects before the second call
      const first = await heldInBeforeCommit((beforeCommit) => pin(one, BOARD, '1', { beforeCommit }))
      const second = outcomeOf(() => pin(other, BOARD, '2', { signal: caller.signal }))
      await whileWaiting(second)
      caller.abort(reason)
      first.release()
      await first.outcome
      const outcome = await second

      assert.equal((await issuesOn(one, BOARD)).includes('2'), 'value' in outcome)
      if ('thrown' in outcome) assert.equal(outcome.thrown, reason)
    },
  ),

  hostCase(
    'in a host’s transaction a change whose caller has aborted is not written',
    ['begin'],
    async (storage, bench) => {
      const { transaction, commit } = await bench.begin()
      const reason = new Error('gone')
      const signal = AbortSignal.abort(reason)
      await pin(storage, BOARD, '1', { transaction })

      assert.deepEqual(await outcomeOf(() => pin(storage, BOARD, '2', { transaction, signal })), { thrown: reason })
      await pin(storage, BOARD, '3', { transaction })
      await commit()
      assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3'])
    },
  ),
]
