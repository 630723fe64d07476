import assert from 'node:assert/strict'
import { BOARD, issuesOn, pin } from '../samples/pin-boards.ts'
import { heldInBeforeCommit, whileWaiting } from './gate.ts'
import { idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, storageCase } from './storage-case.ts'

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
      const first = await heldInBeforeCommit((beforeCommit) => pin(one, BOARD, '1', { beforeCommit }))
      const second = outcomeOf(() => pin(other, BOARD, '2', { signal: caller.signal }))
      await whileWaiting(second)
      caller.abort(REASON)
      first.release()
      await first.outcome
      const outcome = await second

      assert.equal((await issuesOn(one, BOARD)).includes('2'), 'value' in outcome)
      if ('thrown' in outcome) assert.equal(outcome.thrown, REASON)
    },
  ),

  hostCase(
    'in a host’s transaction a change whose caller has aborted is not written',
    ['begin'],
    async (storage, bench) => {
      const { transaction, commit } = await bench.begin()
      const signal = AbortSignal.abort(REASON)
      await pin(storage, BOARD, '1', { transaction })

      assert.deepEqual(await outcomeOf(() => pin(storage, BOARD, '2', { transaction, signal })), { thrown: REASON })
      await pin(storage, BOARD, '3', { transaction })
      await commit()
      assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3'])
    },
  ),
]
