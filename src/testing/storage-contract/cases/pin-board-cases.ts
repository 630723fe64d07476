import assert from 'node:assert/strict'
import type { PinBoardKey, PinRow } from '../../../storage/storage.ts'
import type { AggregateSample } from './aggregate-sample.ts'
import { aggregateSample } from './aggregate-sample.ts'
import { issuesOn, outbox } from './contents.ts'
import { BOARD, change, moveToFront, NO_SUBJECT, NOON, pin, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

const BOARDS: readonly PinBoardKey[] = ['10', '11'].flatMap((repositoryId) => [
  { repositoryId, kind: 'issue' as const },
  { repositoryId, kind: 'pullRequest' as const },
])

/** The sample of the pin boards. */
export const pinBoardSample: AggregateSample = aggregateSample<PinBoardKey, readonly PinRow[]>({
  name: 'a pin board',
  store: (storage) => storage.pinBoards,
  key: BOARD,
  contents: (storage) => storage.pinBoards.load(BOARD),
  alter: (rows) => {
    const issueId = String(100 + rows.length)
    return {
      state: [...rows, { issueId, pinnedAt: NOON, pinnedBy: null }],
      events: [
        {
          ...NO_SUBJECT,
          type: 'issue.pinned',
          data: { position: rows.length + 1 },
          repositoryId: BOARD.repositoryId,
          issueId,
        },
      ],
      result: 'altered',
    }
  },
})

/** Cases about pin boards, which are independent ordered lists. */
export const pinBoardCases: readonly StorageCase[] = [
  storageCase('a board without pins is empty', async (storage) => {
    assert.deepEqual(await storage.pinBoards.load(BOARD), [])
  }),

  storageCase('a board keeps each pin, its time and who pinned it', async (storage) => {
    const rows = [
      { issueId: '3', pinnedAt: new Date(NOON), pinnedBy: '7' },
      { issueId: '1', pinnedAt: new Date(0), pinnedBy: null },
      { issueId: '2', pinnedAt: new Date('2999-01-01T00:00:00.001Z'), pinnedBy: '9223372036854775807' },
    ]
    await change(storage.pinBoards, BOARD, () => ({ state: rows, events: [], result: undefined }))

    assert.deepEqual(await storage.pinBoards.load(BOARD), rows)
  }),

  storageCase('a board keeps the order that changes give it', async (storage) => {
    for (const issueId of ['1', '2', '3', '4']) await pin(storage, BOARD, issueId)
    await moveToFront(storage, BOARD, '3')
    assert.deepEqual(await issuesOn(storage, BOARD), ['3', '1', '2', '4'])
    await unpin(storage, BOARD, '1')
    assert.deepEqual(await issuesOn(storage, BOARD), ['3', '2', '4'])
    await pin(storage, BOARD, '1')

    assert.deepEqual(await issuesOn(storage, BOARD), ['3', '2', '4', '1'])
  }),

  ...[
    { part: 'author', again: { pinnedBy: '8' } },
    { part: 'time', again: { pinnedAt: new Date(5) } },
  ].map(({ part, again }) =>
    storageCase(`a board stores the new ${part} of a pin`, async (storage) => {
      for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
      const renew = (row: PinRow) => (row.issueId === '2' ? { ...row, ...again } : row)
      const expected = (await storage.pinBoards.load(BOARD)).map(renew)
      await change(storage.pinBoards, BOARD, (rows) => ({ state: rows.map(renew), events: [], result: undefined }))

      assert.deepEqual(await storage.pinBoards.load(BOARD), expected)
    }),
  ),

  storageCase('a board can be reversed, emptied and filled in one change each', async (storage) => {
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    await change(storage.pinBoards, BOARD, (rows) => ({ state: rows.toReversed(), events: [], result: undefined }))
    assert.deepEqual(await issuesOn(storage, BOARD), ['3', '2', '1'])
    await change(storage.pinBoards, BOARD, () => ({ state: [], events: [], result: undefined }))

    assert.deepEqual(await issuesOn(storage, BOARD), [])
    assert.equal(await pin(storage, BOARD, '2'), 1)
  }),

  storageCase('a decision sees the board that the previous change wrote', async (storage) => {
    await Promise.all(['1', '2', '3'].map((issueId) => pin(storage, BOARD, issueId)))
    const seen: unknown[] = []
    await change(storage.pinBoards, BOARD, (rows) => {
      seen.push(rows.map((row) => row.issueId))
      return { state: rows, events: [], result: undefined }
    })

    assert.deepEqual(seen.at(-1), await issuesOn(storage, BOARD))
  }),

  storageCase('boards of two repositories and of two kinds are independent', async (storage) => {
    for (const [index, board] of BOARDS.entries()) {
      for (let n = 0; n <= index; n++) await pin(storage, board, String(100 * (index + 1) + n))
    }
    const before = await Promise.all(BOARDS.map((board) => issuesOn(storage, board)))
    await unpin(storage, { repositoryId: '10', kind: 'pullRequest' }, '200')
    const after = await Promise.all(BOARDS.map((board) => issuesOn(storage, board)))

    assert.deepEqual(before, [['100'], ['200', '201'], ['300', '301', '302'], ['400', '401', '402', '403']])
    assert.deepEqual(after, [before[0], ['201'], before[2], before[3]])
  }),

  storageCase('two hundred concurrent pins never exceed the limit of the decision', async (storage) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, n) => pin(storage, BOARD, String(n + 1), { limit: 3 })),
    )
    const positions = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))

    assert.deepEqual(positions.sort(), [1, 2, 3])
    assert.equal((await issuesOn(storage, BOARD)).length, 3)
    assert.equal((await outbox(storage)).length, 3)
  }),

  storageCase('the same issue pinned a hundred times concurrently is on the board once', async (storage) => {
    const positions = await Promise.all(Array.from({ length: 100 }, () => pin(storage, BOARD, '1')))

    assert.deepEqual(new Set(positions), new Set([1]))
    assert.deepEqual(await issuesOn(storage, BOARD), ['1'])
    assert.equal((await outbox(storage)).length, 1)
  }),

  storageCase('concurrent pins, moves and unpins leave a board that its events explain', async (storage) => {
    const work = Array.from({ length: 120 }, (_, n) => {
      const issueId = String((n % 7) + 1)
      return n % 3 === 2 ? unpin(storage, BOARD, issueId) : pin(storage, BOARD, issueId, { limit: 4 })
    })
    await Promise.allSettled(work)
    const board: string[] = []
    for (const event of await outbox(storage)) {
      if (event.type === 'issue.pinned') assert.equal(board.push(String(event.issueId)), event.data.position)
      if (event.type === 'issue.unpinned') assert.deepEqual(board.splice(event.data.position - 1, 1), [event.issueId])
    }

    assert.deepEqual(await issuesOn(storage, BOARD), board)
    assert.ok(board.length <= 4)
  }),

  storageCase('changes wait for a slow beforeCommit, or are refused', async (storage) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) =>
        pin(storage, BOARD, String(n + 1), { limit: 3, beforeCommit: () => new Promise((done) => setImmediate(done)) }),
      ),
    )
    const done = outcomes.filter((outcome) => outcome.status === 'fulfilled').length

    assert.ok(done === 0 || done === 3, `${done} of 8 were pinned at a limit of 3`)
    assert.equal((await issuesOn(storage, BOARD)).length, done)
    assert.equal((await outbox(storage)).length, done)
  }),

  storageCase('a pin beyond the limit is refused with its code', async (storage) => {
    await pin(storage, BOARD, '1', { limit: 1 })

    await refuses('PIN_LIMIT_REACHED', () => pin(storage, BOARD, '2', { limit: 1 }))
    assert.equal(await pin(storage, { ...BOARD, kind: 'pullRequest' }, '2', { limit: 1 }), 1)
  }),
]
