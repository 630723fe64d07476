import assert from 'node:assert/strict'
import type { EventDraft } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { blocksOf, outbox } from './contents.ts'
import { fill } from './retirement-samples.ts'
import { BOARD, block, change, define, NO_SUBJECT, NOON, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, storageCase } from './storage-case.ts'
import type { Everything } from './stores.ts'
import { AGGREGATES, everything } from './stores.ts'

/**
 * Cases about changes that fail at each place where a change can fail: a change is written completely or not at all.
 */
export const rollbackCases: readonly StorageCase[] = [
  ...[0, 1, 2].map((healthy) =>
    storageCase(
      `an event that cannot be stored, after ${healthy} others, rolls back its whole change`,
      async (storage) => {
        await pin(storage, BOARD, '1')
        const before = await everything(storage)
        const error = new Error('no data')
        const events = [...Array.from({ length: healthy }, () => pinned('2')), unkeepable(error)]
        const outcome = await outcomeOf(() =>
          change(storage.pinBoards, BOARD, () => ({ state: [row('2'), row('3')], events, result: 0 })),
        )

        assert.deepEqual(outcome, { thrown: error })
        assert.deepEqual(await everything(storage), before)
      },
    ),
  ),

  storageCase('a change without a valid time is not written', async (storage) => {
    await pin(storage, BOARD, '1')
    const before = await everything(storage)
    const error = new Error('no clock')
    const at = () => {
      throw error
    }

    assert.deepEqual(await outcomeOf(() => pin(storage, BOARD, '2', { by: { actorId: '7', at } })), { thrown: error })
    assert.deepEqual(await everything(storage), before)
  }),

  storageCase('a change that is refused for one of its additions makes none of them', async (storage) => {
    await fill(storage)
    await retire(storage, { thing: 'issue', issueId: '8', ...BOARD })
    const before = await everything(storage)
    const state = ['7', '8', '9'].map(row)
    const outcome = await outcomeOf(() =>
      change(storage.pinBoards, BOARD, () => ({ state, events: [pinned('7')], result: 0 })),
    )

    assert.ok('thrown' in outcome)
    assert.deepEqual(await everything(storage), before)
  }),

  storageCase('an error is rethrown unchanged, whatever it is', async (storage) => {
    for (const thrown of [new RangeError('r'), 'a string', undefined, null, 7]) {
      const outcome = await outcomeOf(() =>
        change(storage.blocks, { organizationId: '20', userId: '30' }, () => {
          throw thrown
        }),
      )
      assert.deepEqual(outcome, { thrown })
    }
  }),

  storageCase('many concurrent changes of which half fail leave the others complete', async (storage) => {
    const work = Array.from({ length: 40 }, (_, n) =>
      outcomeOf(() => block(storage, '20', String(n), n % 2 === 0 ? {} : { beforeCommit: no })),
    )
    const outcomes = await Promise.all(work)
    const [blocks, events] = [await blocksOf(storage, '20'), await outbox(storage)]

    assert.equal(outcomes.filter((outcome) => 'value' in outcome).length, 20)
    assert.ok(blocks.every((one) => Number(one.userId) % 2 === 0))
    assert.deepEqual([blocks.length, events.length], [20, 20])
  }),

  ...AGGREGATES.map((one) =>
    hostCase(
      `a change of ${one.name} that failed right before the commit is invisible to others`,
      ['again'],
      async (storage, bench) => {
        await one.prepare(storage)
        await one.alter(storage)
        const elsewhere = await bench.again()
        const before = await everything(elsewhere)
        const seen: Promise<Everything>[] = []
        await outcomeOf(() => one.alter(storage, { beforeCommit: () => lookAndThrow(elsewhere, seen) }))

        assert.deepEqual(await Promise.all(seen), [before])
        assert.deepEqual(await everything(elsewhere), before)
        await one.alter(elsewhere)
        assert.deepEqual(await everything(storage), await everything(elsewhere))
      },
    ),
  ),

  hostCase('an acknowledged change is immediately visible to everyone', ['again'], async (storage, bench) => {
    const elsewhere = await bench.again()
    await define(storage, 'night-owl')
    for (let round = 0; round < 10; round += 1) {
      for (const one of AGGREGATES) {
        await one.alter(round % 2 === 0 ? storage : elsewhere)
        assert.deepEqual(await everything(storage), await everything(elsewhere))
      }
    }
  }),
]

function lookAndThrow<Tx>(storage: ForgeStorage<Tx>, seen: Promise<Everything>[]): void {
  seen.push(everything(storage))
  no()
}

function no(): never {
  throw new Error('the host says no')
}

function row(issueId: string): { issueId: string; pinnedAt: Date; pinnedBy: null } {
  return { issueId, pinnedAt: new Date(NOON), pinnedBy: null }
}

function pinned(issueId: string): EventDraft<'issue.pinned'> {
  return { ...NO_SUBJECT, type: 'issue.pinned', data: { position: 1 }, repositoryId: BOARD.repositoryId, issueId }
}

/** Creates an event whose data throws when it is read. */
function unkeepable(error: Error): EventDraft<'issue.pinned'> {
  const data = {
    get position(): number {
      throw error
    },
  }
  return { ...pinned('9'), data }
}
