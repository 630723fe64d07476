import assert from 'node:assert/strict'
import { AGGREGATES, everything, fill, reads } from '../samples/aggregates.ts'
import { block, blocksOf } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../samples/pin-boards.ts'
import { retire, THINGS } from '../samples/retirements.ts'
import { refusing } from './change-cases.ts'
import { heldInBeforeCommit, whileWaiting } from './gate.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { hostCase, ofReports, outcomeOf } from './storage-case.ts'

const OTHER = { ...BOARD, repositoryId: '11' }

/**
 * Cases about changes inside a transaction of the host, which commit or roll back with it.
 * Source: docs/storage.md, section 3
 */
export const transactionCases: readonly StorageCase[] = [
  ...AGGREGATES.flatMap((one) => [
    hostCase(
      `a change of ${one.name} that fails in a host’s transaction keeps the rest of it`,
      ['begin'],
      async (storage, bench) => {
        await one.prepare(storage)
        const before = await everything(storage)
        const { transaction, commit } = await bench.begin()
        await pin(storage, OTHER, '71', { transaction })
        const thrown = new Error('no')
        for (const refusal of [{ instead: refusing(thrown) }, { beforeCommit: refusing(thrown) }])
          assert.deepEqual(await outcomeOf(() => one.alter(storage, { transaction, ...refusal })), { thrown })
        await pin(storage, OTHER, '72', { transaction })
        await commit()
        const { contents, events } = await everything(storage)

        assert.deepEqual(contents, before.contents)
        assert.deepEqual(
          events.slice(before.events.length).map((event) => event.issueId),
          ['71', '72'],
        )
        assert.deepEqual(await issuesOn(storage, OTHER), ['71', '72'])
      },
    ),

    hostCase(
      `a change of ${one.name} in a host’s transaction is read in it, and by others only when that is committed`,
      ['begin', 'again'],
      async (storage, bench) => {
        await one.prepare(storage)
        const elsewhere = await bench.again()
        const before = await everything(elsewhere)
        const undone = await bench.begin()
        await one.alter(storage, { transaction: undone.transaction })
        assert.deepEqual(await everything(elsewhere), before)
        await undone.rollback()
        assert.deepEqual(await everything(elsewhere), before)

        const { transaction, commit } = await bench.begin()
        const { events } = await one.alter(storage, { transaction })
        const inside: unknown[] = []
        for (const [, read] of reads(storage, transaction)) inside.push(await read())
        await commit()
        assert.deepEqual(await everything(elsewhere), { contents: inside, events: [...before.events, ...events] })
        await one.alter(storage)
      },
    ),
  ]),

  ...THINGS.map((retired) =>
    ofReports(
      hostCase(
        `retiring the ${retired.thing} in a host’s transaction is kept or undone with it`,
        ['begin'],
        async (storage, bench) => {
          await fill(storage)
          const before = await everything(storage)
          const first = await bench.begin()
          await retire(storage, retired, { transaction: first.transaction })
          await first.rollback()
          assert.deepEqual(await everything(storage), before)

          const { transaction, commit } = await bench.begin()
          const events = await retire(storage, retired, { transaction })
          await commit()
          assert.deepEqual(await outbox(storage), [...before.events, ...events])
          assert.deepEqual([events.length, await retire(storage, retired)], [1, []])
        },
      ),
    ),
  ),

  hostCase('an open host’s transaction is accepted, one that has ended is not', ['begin'], async (storage, bench) => {
    const { transaction, commit } = await bench.begin()
    assert.equal(await storage.checkTransaction(transaction), undefined)
    await commit()
    const outcomes = [
      await outcomeOf(() => storage.checkTransaction(transaction)),
      await outcomeOf(() => pin(storage, BOARD, '1', { transaction })),
    ]

    for (const outcome of outcomes) assert.ok('thrown' in outcome && outcome.thrown instanceof TypeError)
    assert.deepEqual(await issuesOn(storage, BOARD), [])
  }),

  hostCase(
    'concurrent changes in one host’s transaction run one after the other',
    ['begin'],
    async (storage, bench) => {
      const { transaction, commit } = await bench.begin()
      const outcomes = await Promise.all([
        outcomeOf(() => pin(storage, BOARD, '1', { transaction })),
        outcomeOf(() => pin(storage, BOARD, '2', { transaction, limit: 0 })),
        outcomeOf(() => block(storage, '20', '30', { transaction })),
        outcomeOf(() => pin(storage, BOARD, '3', { transaction })),
        outcomeOf(() => pin(storage, BOARD, '4', { transaction })),
      ])
      await commit()
      const [blocks, events] = [await blocksOf(storage, '20'), await outbox(storage)]

      assert.deepEqual(
        outcomes.map((outcome) => 'value' in outcome),
        [true, false, true, true, true],
      )
      assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3', '4'])
      assert.deepEqual([blocks.length, events.length], [1, 4])
    },
  ),

  hostCase(
    'beforeCommit receives the host’s transaction, and reads in it what it will commit',
    ['begin'],
    async (storage, bench) => {
      const { transaction, commit } = await bench.begin()
      const given: unknown[] = []
      const seen: Promise<Outcome>[] = []
      await pin(storage, BOARD, '1', {
        transaction,
        beforeCommit(_events, open) {
          given.push(open)
          seen.push(outcomeOf(() => issuesOn(storage, BOARD, open)))
        },
      })
      const boards = await Promise.all(seen)
      await commit()

      assert.deepEqual(
        given.map((open) => open === transaction),
        [true],
      )
      assert.deepEqual(boards, [{ value: ['1'] }])
    },
  ),

  hostCase(
    'changes requested during a beforeCommit of the same host’s transaction run after it',
    ['begin'],
    async (storage, bench) => {
      const { transaction, commit } = await bench.begin()
      const first = await heldInBeforeCommit((beforeCommit) => pin(storage, BOARD, '1', { transaction, beforeCommit }))
      const others = ['2', '3'].map((issueId) => outcomeOf(() => pin(storage, BOARD, issueId, { transaction })))
      await whileWaiting(Promise.all(others))
      first.release()
      const made = 'value' in (await first.outcome) ? ['1', '2', '3'] : ['2', '3']
      const outcomes = await Promise.all(others)
      await commit()

      assert.deepEqual(
        outcomes.map((outcome) => ('thrown' in outcome ? outcome.thrown : undefined)),
        [undefined, undefined],
      )
      assert.deepEqual(await issuesOn(storage, BOARD), made)
    },
  ),

  hostCase(
    'a read requested during a beforeCommit of the same host’s transaction does not see a change that beforeCommit refuses',
    ['begin'],
    async (storage, bench) => {
      const { transaction, rollback } = await bench.begin()
      const first = await heldInBeforeCommit((hold) =>
        pin(storage, BOARD, '1', {
          transaction,
          async beforeCommit() {
            await hold()
            throw new Error('the host says no')
          },
        }),
      )
      const read = outcomeOf(() => issuesOn(storage, BOARD, transaction))
      await whileWaiting(read)
      first.release()
      const refused = 'thrown' in (await first.outcome)
      const seen = await read
      await rollback()

      assert.ok(refused, 'the change is refused')
      assert.deepEqual(seen, { value: [] })
    },
  ),
]
