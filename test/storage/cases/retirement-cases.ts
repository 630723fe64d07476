import assert from 'node:assert/strict'
import type { ForgeErrorCode } from '../../../src/schema/errors.ts'
import type { ForgeStorage } from '../../../src/storage/contract/forge-storage.ts'
import type { PinBoardKey } from '../../../src/storage/contract/pin-board-store.ts'
import type { Retired } from '../../../src/storage/contract/retirement.ts'
import { blockedBy, issuesOn, outbox, slugsHeldBy } from './contents.ts'
import {
  BOARD,
  block,
  change,
  define,
  grant,
  NO_SUBJECT,
  pin,
  retire,
  revoke,
  unblock,
  unpin,
} from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses, storageCase } from './storage-case.ts'

const PULLS: PinBoardKey = { repositoryId: '10', kind: 'pullRequest' }
const OTHER: PinBoardKey = { repositoryId: '11', kind: 'issue' }

const USER: Retired = { thing: 'user', userId: '30' }
const ORGANIZATION: Retired = { thing: 'organization', organizationId: '20' }
const REPOSITORY: Retired = { thing: 'repository', repositoryId: '10' }
const ISSUE: Retired = { thing: 'issue', issueId: '2', repositoryId: '10', kind: 'issue' }

const THINGS: readonly Retired[] = [USER, ORGANIZATION, REPOSITORY, ISSUE]

/** Retirement: what is gone takes with it what hung on it, and never comes back. */
export const retirementCases: readonly StorageCase[] = [
  storageCase('a retired user takes along its blocks and grants, and nothing else', async (storage) => {
    await fill(storage)
    const [event] = await retire(storage, USER)

    assert.deepEqual(event?.data, { blocks: 2, grants: 2 })
    assert.deepEqual(await summary(storage), {
      boards: [['1', '2', '3'], ['2', '4'], ['9']],
      blocks: [['31', '32'], ['31']],
      held: ['a'],
    })
    assert.deepEqual(await storage.blocks.among('20', ['30', '31']), new Set(['31']))
    assert.equal(await storage.blocks.find({ organizationId: '20', userId: '30' }), undefined)
  }),

  storageCase('a retired organization takes along its blocks, and nothing else', async (storage) => {
    await fill(storage)
    const [event] = await retire(storage, ORGANIZATION)

    assert.deepEqual(event?.data, { blocks: 3 })
    assert.deepEqual(await storage.blocks.among('20', ['30', '31', '32']), new Set())
    assert.deepEqual(await blockedBy(storage, '21'), ['30', '31'])
    assert.deepEqual(await slugsHeldBy(storage, '30'), ['a', 'b'])
    assert.deepEqual(await issuesOn(storage, BOARD), ['1', '2', '3'])
  }),

  storageCase(
    'a retired issue leaves the board of another repository too, where it was pinned before',
    async (storage) => {
      await fill(storage)
      await pin(storage, OTHER, '2')
      const [event] = await retire(storage, ISSUE)

      assert.deepEqual(event?.data, { wasPinned: true })
      assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3'])
      assert.deepEqual(await issuesOn(storage, OTHER), ['9'])
      assert.deepEqual(await issuesOn(storage, PULLS), ['2', '4'])
    },
  ),

  storageCase('a retired repository takes along the pins of both its boards, and nothing else', async (storage) => {
    await fill(storage)
    const [event] = await retire(storage, REPOSITORY)

    assert.deepEqual(event?.data, { pins: 5 })
    assert.deepEqual(await issuesOn(storage, OTHER), ['9'])
    assert.deepEqual(await blockedBy(storage, '20'), ['31', '30', '32'])
  }),

  storageCase('a retired issue leaves its board and closes the gap', async (storage) => {
    await fill(storage)
    const [event] = await retire(storage, ISSUE)

    assert.deepEqual(event?.data, { wasPinned: true })
    assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3'])
    assert.deepEqual(await issuesOn(storage, PULLS), ['2', '4'])
    assert.equal(await pin(storage, BOARD, '5'), 3)
    assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3', '5'])
  }),

  ...THINGS.flatMap((retired) => [
    storageCase(`retiring the ${retired.thing} tells of it once, with its envelope`, async (storage) => {
      await fill(storage)
      const before = await outbox(storage)
      const at = new Date(1_234_567)
      const events = await retire(storage, retired, { by: { actorId: null, at: () => at } })

      assert.equal(events.length, 1)
      assert.deepEqual([events[0]?.actorId, events[0]?.at, events[0]?.version], [null, at, 1])
      assert.deepEqual(await outbox(storage), [...before, ...events])
    }),

    storageCase(`retiring the ${retired.thing} again does nothing and asks nothing`, async (storage) => {
      await fill(storage)
      await retire(storage, retired)
      const before = await outbox(storage)
      const asked = () => {
        throw new Error('asked')
      }

      assert.deepEqual(await retire(storage, retired, { record: asked, beforeCommit: asked }), [])
      assert.deepEqual(await outbox(storage), before)
    }),

    storageCase(`retiring the ${retired.thing} when nothing hangs on it is remembered too`, async (storage) => {
      const events = await retire(storage, retired)

      assert.equal(events.length, 1)
      assert.deepEqual(await retire(storage, retired), [])
      for (const [code, call] of refusedAfter(storage, retired)) await refuses(code, call)
    }),

    storageCase(`retiring the ${retired.thing} raises its epoch, also when nothing hangs on it`, async (storage) => {
      const before = await epochs(storage, retired)
      await retire(storage, retired)
      const after = await epochs(storage, retired)

      for (const [index, epoch] of after.entries()) assert.ok(epoch > (before[index] ?? 0))
    }),

    storageCase(`a change that asked before the ${retired.thing} was retired is not written`, async (storage) => {
      await fill(storage)
      const seen = 0
      await retire(storage, retired)
      const before = await outbox(storage)
      for (const attempt of changesOf(storage, retired, seen)) {
        const outcome = await outcomeOf(attempt)
        const refused = 'thrown' in outcome || JSON.stringify(outcome.value) === '{"stale":true}'
        assert.ok(refused, 'the change is stale or refused')
      }

      assert.deepEqual(await outbox(storage), before)
    }),

    storageCase(`retiring the ${retired.thing} is rolled back when the host throws`, async (storage) => {
      await fill(storage)
      const before = [await summary(storage), await outbox(storage), await epochs(storage, retired)]
      const error = new Error('the host says no')
      const no = () => {
        throw error
      }
      assert.deepEqual(await outcomeOf(() => retire(storage, retired, { beforeCommit: no })), { thrown: error })
      assert.deepEqual(await outcomeOf(() => retire(storage, retired, { record: no })), { thrown: error })

      assert.deepEqual([await summary(storage), await outbox(storage), await epochs(storage, retired)], before)
      assert.equal((await retire(storage, retired)).length, 1)
    }),

    storageCase(`retiring the ${retired.thing} from many sides at once happens once`, async (storage) => {
      await fill(storage)
      const made = await Promise.all(Array.from({ length: 20 }, () => retire(storage, retired)))

      assert.equal(made.flat().length, 1)
    }),

    storageCase(`what is retired refuses: the ${retired.thing}`, async (storage) => {
      await fill(storage)
      await retire(storage, retired)
      const before = await outbox(storage)
      for (const [code, call] of refusedAfter(storage, retired)) await refuses(code, call)

      assert.deepEqual(await outbox(storage), before)
    }),
  ]),

  storageCase('beforeCommit is told of a retirement before it is committed', async (storage) => {
    const told: unknown[] = []
    const events = await retire(storage, USER, { beforeCommit: (events) => void told.push(...events) })

    assert.deepEqual(told, events)
  }),

  storageCase(
    'a board goes on without its retired issue: others come and go, it can be asked to leave',
    async (storage) => {
      await fill(storage)
      await retire(storage, ISSUE)
      await unpin(storage, BOARD, '2')
      await unpin(storage, BOARD, '1')

      assert.equal(await pin(storage, BOARD, '1'), 2)
    },
  ),

  storageCase('a retired issue is refused among others that a change adds', async (storage) => {
    await retire(storage, ISSUE)
    await refuses('ISSUE_NOT_FOUND', () =>
      change(storage.pinBoards, BOARD, (rows) => ({
        state: [...rows, ...['7', '2'].map((issueId) => ({ issueId, pinnedAt: new Date(0), pinnedBy: null }))],
        events: [],
        result: undefined,
      })),
    )

    assert.deepEqual(await issuesOn(storage, BOARD), [])
  }),

  storageCase('an issue can be reported after its repository', async (storage) => {
    await fill(storage)
    await retire(storage, REPOSITORY)
    await retire(storage, ISSUE)
    await retire(storage, ISSUE)

    await refuses('REPOSITORY_NOT_FOUND', () => pin(storage, BOARD, '2'))
  }),

  storageCase('a thing of one kind never retires that of another with the same id', async (storage) => {
    await define(storage, 'a')
    await retire(storage, { thing: 'user', userId: '5' })
    await pin(storage, { repositoryId: '5', kind: 'issue' }, '5')
    await block(storage, '5', '6')
    await retire(storage, { thing: 'repository', repositoryId: '6' })
    await grant(storage, '6', ['a'])
    await retire(storage, { thing: 'organization', organizationId: '7' })
    await pin(storage, { repositoryId: '7', kind: 'issue' }, '7')

    assert.deepEqual(await blockedBy(storage, '5'), ['6'])
  }),

  storageCase('a user retired while blocked from many sides is blocked by none in the end', async (storage) => {
    const work = Array.from({ length: 40 }, (_, n) =>
      n === 20 ? retire(storage, USER) : block(storage, String(200 + n), '30'),
    )
    await Promise.allSettled(work)
    const left = await Promise.all(Array.from({ length: 40 }, (_, n) => blockedBy(storage, String(200 + n))))

    assert.deepEqual(left.flat(), [])
  }),

  storageCase('a user with a thousand blocks is retired whole, and every total is right', async (storage) => {
    const organizationIds = Array.from({ length: 1000 }, (_, n) => String(5000 + n))
    await Promise.all(organizationIds.map((organizationId) => block(storage, organizationId, '30')))
    await block(storage, '5500', '31')
    const [event] = await retire(storage, USER)

    assert.deepEqual(event?.data, { blocks: 1000, grants: 0 })
    assert.deepEqual(await blockedBy(storage, '5500'), ['31'])
    assert.deepEqual(await blockedBy(storage, '5999'), [])
  }),
]

async function fill(storage: ForgeStorage): Promise<void> {
  for (const slug of ['a', 'b']) await define(storage, slug)
  for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
  for (const issueId of ['2', '4']) await pin(storage, PULLS, issueId)
  await pin(storage, OTHER, '9')
  for (const userId of ['31', '30', '32']) await block(storage, '20', userId)
  for (const userId of ['30', '31']) await block(storage, '21', userId)
  await grant(storage, '30', ['a', 'b'])
  await grant(storage, '31', ['a'])
}

async function summary(storage: ForgeStorage): Promise<object> {
  return {
    boards: await Promise.all([BOARD, PULLS, OTHER].map((board) => issuesOn(storage, board))),
    blocks: await Promise.all(['20', '21'].map((organizationId) => blockedBy(storage, organizationId))),
    held: await slugsHeldBy(storage, '31'),
  }
}

async function epochs(storage: ForgeStorage, retired: Retired): Promise<readonly number[]> {
  if (retired.thing === 'user') return [await storage.badgeCases.epoch({ userId: retired.userId, slugs: [] })]
  if (retired.thing === 'issue') return [await storage.pinBoards.epoch(BOARD)]
  if (retired.thing === 'organization') {
    return [await storage.blocks.epoch({ organizationId: retired.organizationId, userId: '99' })]
  }

  return [await storage.pinBoards.epoch(BOARD), await storage.pinBoards.epoch(PULLS)]
}

/** Changes of what hangs on a thing, made after its epoch was seen. */
function changesOf(storage: ForgeStorage, retired: Retired, seen: number): readonly (() => Promise<unknown>)[] {
  const pinOn = (board: PinBoardKey) => () =>
    change(
      storage.pinBoards,
      board,
      (rows) => ({
        state: [...rows, { issueId: '8', pinnedAt: new Date(0), pinnedBy: null }],
        events: [{ ...NO_SUBJECT, type: 'issue.pinned', data: { position: 1 }, repositoryId: '10', issueId: '8' }],
        result: undefined,
      }),
      { seen },
    )
  if (retired.thing === 'issue') return [pinOn(BOARD)]
  if (retired.thing === 'repository') return [pinOn(BOARD), pinOn(PULLS)]
  if (retired.thing === 'user') return [() => grant(storage, '30', ['a'], { seen })]

  return [() => block(storage, '20', '77', { seen })]
}

function refusedAfter(storage: ForgeStorage, retired: Retired): readonly (readonly [ForgeErrorCode, () => unknown])[] {
  if (retired.thing === 'issue') return [['ISSUE_NOT_FOUND', () => pin(storage, BOARD, '2')]]
  if (retired.thing === 'user') {
    return [
      ['USER_NOT_FOUND', () => block(storage, '20', '30')],
      ['USER_NOT_FOUND', () => block(storage, '99', '30')],
      ['USER_NOT_FOUND', () => unblock(storage, '20', '30')],
      ['USER_NOT_FOUND', () => grant(storage, '30', ['a'])],
      ['USER_NOT_FOUND', () => grant(storage, '30', [])],
      ['USER_NOT_FOUND', () => revoke(storage, '30', ['a'])],
      ['USER_NOT_FOUND', () => storage.badgeCases.heldBy('30')],
    ]
  }
  if (retired.thing === 'organization') {
    return [
      ['ORGANIZATION_NOT_FOUND', () => block(storage, '20', '31')],
      ['ORGANIZATION_NOT_FOUND', () => block(storage, '20', '77')],
      ['ORGANIZATION_NOT_FOUND', () => unblock(storage, '20', '31')],
      ['ORGANIZATION_NOT_FOUND', () => storage.blocks.page('20', { from: { page: 1 }, limit: 30 })],
    ]
  }

  return [BOARD, PULLS].flatMap((board) => [
    ['REPOSITORY_NOT_FOUND', () => pin(storage, board, '77')] as const,
    ['REPOSITORY_NOT_FOUND', () => unpin(storage, board, '1')] as const,
    ['REPOSITORY_NOT_FOUND', () => storage.pinBoards.load(board)] as const,
  ])
}
