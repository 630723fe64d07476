import assert from 'node:assert/strict'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage, Retired } from '../../../storage/storage.ts'
import { AGGREGATES, everything, fill, reads } from '../samples/aggregates.ts'
import { block, blockedBy, blocksOf } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, pin, unpin } from '../samples/pin-boards.ts'
import { retire, THINGS } from '../samples/retirements.ts'
import { heldInBeforeCommit, whileWaiting } from './gate.ts'
import { assertMade, assertRefused } from './race.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { begunCase, hostCase, ofReports, outcomeOf, refusing } from './storage-case.ts'

const OTHER = { ...BOARD, repositoryId: '11' }

/** A deletion of what is on two boards or lists. */
interface Deletion {
  readonly name: string
  readonly retired: Retired
  add<Tx>(storage: ForgeStorage<Tx>, owner: string): Promise<unknown>
  read<Tx>(storage: ForgeStorage<Tx>, transaction: Tx): unknown
  left<Tx>(storage: ForgeStorage<Tx>, owner: string): Promise<readonly unknown[]>
}

const DELETIONS: readonly Deletion[] = [
  {
    name: 'a user removes newer blocks',
    retired: { thing: 'user', userId: '30' },
    add: (storage, organizationId) => block(storage, organizationId, '30'),
    read: (storage, transaction) => storage.blocks.among('10', ['30'], transaction),
    left: blockedBy,
  },
  {
    name: 'an issue removes newer pins',
    retired: { thing: 'issue', issueId: '1', ...BOARD },
    add: (storage, repositoryId) => pin(storage, { ...BOARD, repositoryId }, '1'),
    read: (storage, transaction) => storage.pinBoards.load(BOARD, transaction),
    left: (storage, repositoryId) => issuesOn(storage, { ...BOARD, repositoryId }),
  },
]

/**
 * Cases about changes inside a transaction of the host, which commit or roll back with it, and about changes that meet one.
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
        const added = events.slice(before.events.length).map(({ issueId }) => issueId)

        assert.deepEqual([contents, added], [before.contents, ['71', '72']])
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

  begunCase('an open host’s transaction is accepted, one that has ended is not', async (storage, begun) => {
    const { transaction, commit } = begun
    assert.equal(await storage.checkTransaction(transaction), undefined)
    await commit()
    const outcomes = [
      await outcomeOf(() => storage.checkTransaction(transaction)),
      await outcomeOf(() => pin(storage, BOARD, '1', { transaction })),
    ]

    for (const outcome of outcomes) assert.ok('thrown' in outcome && outcome.thrown instanceof TypeError)
    assert.deepEqual(await issuesOn(storage, BOARD), [])
  }),

  begunCase(
    'concurrent changes in one host’s transaction run one after the other',
    async (storage, { transaction, commit }) => {
      const outcomes = await Promise.all([
        outcomeOf(() => pin(storage, BOARD, '1', { transaction })),
        outcomeOf(() => pin(storage, BOARD, '2', { transaction, limit: 0 })),
        outcomeOf(() => block(storage, '20', '30', { transaction })),
        outcomeOf(() => pin(storage, BOARD, '3', { transaction })),
        outcomeOf(() => pin(storage, BOARD, '4', { transaction })),
      ])
      await commit()
      const areMade = outcomes.map((outcome) => 'value' in outcome)
      const [blocks, events] = [await blocksOf(storage, '20'), await outbox(storage)]

      assert.deepEqual(areMade, [true, false, true, true, true])
      assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3', '4'])
      assert.deepEqual([blocks.length, events.length], [1, 4])
    },
  ),

  begunCase(
    'beforeCommit receives the host’s transaction, and reads in it what it will commit',
    async (storage, { transaction, commit }) => {
      const seen: Promise<readonly [boolean, Outcome]>[] = []
      await pin(storage, BOARD, '1', {
        transaction,
        beforeCommit(_events, open) {
          seen.push(outcomeOf(() => issuesOn(storage, BOARD, open)).then((board) => [open === transaction, board]))
        },
      })
      const found = await Promise.all(seen)
      await commit()

      assert.deepEqual(found, [[true, { value: ['1'] }]])
    },
  ),

  begunCase(
    'changes requested during a beforeCommit of the same host’s transaction run after it',
    async (storage, { transaction, commit }) => {
      const first = await heldInBeforeCommit((beforeCommit) => pin(storage, BOARD, '1', { transaction, beforeCommit }))
      const others = ['2', '3'].map((issueId) => outcomeOf(() => pin(storage, BOARD, issueId, { transaction })))
      await whileWaiting(Promise.all(others))
      first.release()
      const made = 'value' in (await first.outcome) ? ['1', '2', '3'] : ['2', '3']
      for (const outcome of await Promise.all(others)) assertMade(outcome)
      await commit()

      assert.deepEqual(await issuesOn(storage, BOARD), made)
    },
  ),

  begunCase(
    'a read requested during a beforeCommit of the same host’s transaction does not see a change that beforeCommit refuses',
    async (storage, { transaction, rollback }) => {
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

  // A change that meets a transaction of the host: the second one sees what the first one committed.
  ...(['commit', 'rollback'] as const).map((end) =>
    begunCase(
      `a change that waited for a host’s transaction sees ${end === 'commit' ? 'what that committed' : 'nothing of it when it is rolled back'}`,
      async (storage, host, bench) => {
        await pin(storage, BOARD, '1', { transaction: host.transaction, limit: 1 })
        const elsewhere = await bench.again()
        const waiting = outcomeOf(() => pin(elsewhere, BOARD, '2', { limit: 1 }))
        await whileWaiting(waiting)
        await host[end]()
        const outcome = await waiting

        if (end === 'commit') assertRefused(outcome, 'PIN_LIMIT_REACHED')
        else assert.deepEqual(outcome, { value: 1 })
        assert.deepEqual(await issuesOn(storage, BOARD), end === 'commit' ? ['1'] : ['2'])
      },
      ['again'],
    ),
  ),

  ...[false, true].map((used) =>
    hostCase(
      `a host that reads from a snapshot sees newer changes or must retry, on a board ${used ? 'that was used' : 'that was never used'} before`,
      ['beginSnapshot'],
      async (storage, bench) => {
        if (used) for (const act of [pin, unpin]) await act(storage, BOARD, '9')
        const { transaction, rollback } = await bench.begin('beginSnapshot')
        await storage.pinBoards.load(BOARD, transaction)
        await pin(storage, BOARD, '1', { limit: 1 })
        const outcome = await outcomeOf(() => pin(storage, BOARD, '2', { transaction, limit: 1 }))

        await rollback()

        assertRefused(outcome, 'PIN_LIMIT_REACHED', 'STORAGE_BUSY')
        assert.deepEqual(await issuesOn(storage, BOARD), ['1'])
      },
    ),
  ),

  ...DELETIONS.map(({ name, retired, add, read, left }) =>
    hostCase(
      `a host that reads from a snapshot and deletes ${name} too, or must retry`,
      ['beginSnapshot'],
      async (storage, bench) => {
        await add(storage, '10')
        const { transaction, commit, rollback } = await bench.begin('beginSnapshot')
        await read(storage, transaction)
        await add(storage, '11')
        const outcome = await outcomeOf(() => retire(storage, retired, { transaction }))
        const isDeleted = 'value' in outcome
        await (isDeleted ? commit() : rollback())

        if (isForgeError('thrown' in outcome && outcome.thrown)) assertRefused(outcome, 'STORAGE_BUSY')
        for (const owner of ['10', '11']) assert.equal((await left(storage, owner)).length, isDeleted ? 0 : 1)
      },
    ),
  ),
]
