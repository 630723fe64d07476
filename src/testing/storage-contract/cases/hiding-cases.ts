import assert from 'node:assert/strict'
import type { Id } from '../../../index.ts'
import { define, grant, slugsHeldBy } from '../samples/badges.ts'
import { BLOCK, block, blockedBy } from '../samples/blocks.ts'
import { BOARD, moveToFront, pin, unpin } from '../samples/pin-boards.ts'
import { Draw } from '../samples/sample.ts'
import { meeting, whileWaiting } from './gate.ts'
import { assertRefused } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses } from './storage-case.ts'
import { compareBoards, expectBoard, LEVELS, rejects, tableCase } from './table-case.ts'

/** Cases about rows that the host hides, and shows again. */
export const hidingCases: readonly StorageCase[] = [
  tableCase('a hidden issue is on no board, does not count, and comes back to its position', async (storage, rows) => {
    const hide = (id: Id, isHidden = true) => rows.hide('issue', { id, isHidden })
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    await hide('2')
    await expectBoard(storage, ['1', '3'])
    assert.deepEqual(await storage.pinBoards.positions([{ ...BOARD, issueId: '2' }]), [undefined])
    await refuses('ISSUE_NOT_FOUND', () => pin(storage, BOARD, '2'))
    assert.equal(await pin(storage, BOARD, '4', { limit: 3 }), 3)
    await refuses('PIN_LIMIT_REACHED', () => pin(storage, BOARD, '5', { limit: 3 }))
    await hide('2', false)
    await expectBoard(storage, ['1', '2', '3', '4'])

    await hide('1')
    await moveToFront(storage, BOARD, '4')
    await unpin(storage, BOARD, '3')
    await expectBoard(storage, ['4', '2'])
    await hide('1', false)
    await expectBoard(storage, ['1', '4', '2'])
    await rows.remove('issue', '4')
    await expectBoard(storage, ['1', '2'])
  }),

  ...[1, 2].map((seed) =>
    tableCase(
      `after drawn changes, deletions and hidden issues (seed ${seed}) a board is in its order`,
      (storage, rows) => compareBoards(storage, rows, new Draw(seed), { hides: true }),
    ),
  ),

  tableCase('a hidden user is not blocked and holds nothing, until shown again', async (storage, rows) => {
    await define(storage, 'owl')
    for (const userId of ['30', '31']) {
      await block(storage, '20', userId)
      await grant(storage, userId, ['owl'])
    }
    const seen = async () => [
      await blockedBy(storage, '20'),
      [...(await storage.blocks.among('20', ['30', '31']))],
      (await storage.blocks.find(BLOCK))?.userId,
      (await storage.userBadges.holders('owl', { from: { page: 1 }, limit: 10 }))?.total,
      (await storage.userBadges.heldByMany(['30', '31'])).map((grants) => grants.length),
    ]
    const before = await seen()
    await rows.hide('user', { id: '30', isHidden: true })
    assert.deepEqual(await seen(), [['31'], ['31'], undefined, 1, [0, 1]])
    await refuses('USER_NOT_FOUND', () => block(storage, '20', '30'))
    await refuses('USER_NOT_FOUND', () => grant(storage, '30', ['owl']))
    await refuses('USER_NOT_FOUND', () => storage.userBadges.heldBy('30'))
    await rejects(rows.addMember(BLOCK))
    await rows.hide('user', { id: '30', isHidden: false })
    assert.deepEqual(await seen(), before)
    assert.deepEqual(await slugsHeldBy(storage, '30'), ['owl'])
  }),

  ...LEVELS.map((level) =>
    tableCase(
      `a change that meets a row which a host’s transaction hides (${level}) is refused`,
      async (storage, rows, bench) => {
        const begun = await bench.begin(level)
        await rows.hide('issue', { id: '1', isHidden: true }, begun.transaction)
        await rows.hide('user', { id: '30', isHidden: true }, begun.transaction)
        const changes = [
          outcomeOf(() => pin(storage, BOARD, '1')),
          outcomeOf(() => block(storage, '20', '30')),
        ] as const
        await whileWaiting(Promise.all(changes))
        await begun.commit()

        assertRefused(await changes[0], 'ISSUE_NOT_FOUND')
        assertRefused(await changes[1], 'USER_NOT_FOUND')
      },
      [level, 'again'],
    ),
  ),

  tableCase('a row that is hidden beside a change that is not committed is hidden behind it', async (storage, rows) => {
    const [pinning] = await meeting(
      (beforeCommit) => pin(storage, BOARD, '1', { beforeCommit }),
      () => rows.hide('issue', { id: '1', isHidden: true }),
    )
    await expectBoard(storage, [])
    await rows.hide('issue', { id: '1', isHidden: false })
    await expectBoard(storage, 'value' in pinning ? ['1'] : [])
  }),
]
