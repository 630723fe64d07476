import assert from 'node:assert/strict'
import type { ForgeErrorCode } from '../../../index.ts'
import { assertNotBlocked, ForgeError } from '../../../index.ts'
import type { BlockState, ForgeStorage, Retired } from '../../../storage/storage.ts'
import { blockedBy, issuesOn, slugsHeldBy } from './contents.ts'
import { turns } from './gate.ts'
import { atOnce, idsTo, raceCases } from './race.ts'
import { BOARD, block, change, define, grant, NO_SUBJECT, NOON, pin, retire, unblock } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, storageCase } from './storage-case.ts'
import { everything } from './stores.ts'

const KEY = { organizationId: '20', userId: '30' }
const ADMITTED = { ...NO_SUBJECT, type: 'user.unblocked', data: {}, ...KEY } as const

const ROUNDS = 60
/** How many rounds run concurrently. If all of them did, most calls would wait for a connection, and few would meet. */
const ROUNDS_AT_ONCE = 10

/**
 * Cases about data that is looked up outside the lock, and that changes before the lock is taken.
 * Source: docs/storage.md, section 2
 */
export const fenceCases: readonly StorageCase[] = [
  storageCase('the epoch of an organization rises with a change that raises it, and with no other', async (storage) => {
    assert.equal(await storage.blocks.epoch('20'), 0)
    for (const userId of ['30', '31']) await block(storage, '20', userId)
    await unblock(storage, '20', '31')
    assert.equal(await storage.blocks.epoch('20'), 0)
    const before = await everything(storage)
    assert.deepEqual(await change(storage.blocks, KEY, raise), { result: 1, events: [] })

    assert.equal(await storage.blocks.epoch('20'), 1)
    assert.deepEqual(await everything(storage), { ...before, epoch: 1 })
    await unblock(storage, '20', '30')
    assert.equal(await storage.blocks.epoch('20'), 1)
  }),

  storageCase('a change that raises the epoch may change the block too', async (storage) => {
    const block = { ...KEY, note: '', blockedAt: NOON, blockedBy: null }
    await change(storage.blocks, KEY, (state) => ({ ...raise(state), state: { block, epoch: state.epoch + 1 } }))
    await change(storage.blocks, KEY, (state) => ({ ...raise(state), state: { ...state, epoch: state.epoch + 1 } }))

    assert.deepEqual([await blockedBy(storage, '20'), await storage.blocks.epoch('20')], [['30'], 2])
  }),

  storageCase('the epoch stays when the change that raises it is refused', async (storage) => {
    const beforeCommit = () => {
      throw new Error('the host says no')
    }
    const raised = (state: BlockState) => ({ ...raise(state), events: [ADMITTED] })
    assert.ok('thrown' in (await outcomeOf(() => change(storage.blocks, KEY, raised, { beforeCommit }))))

    assert.equal(await storage.blocks.epoch('20'), 0)
  }),

  storageCase('an organization has one epoch for all users', async (storage) => {
    await change(storage.blocks, KEY, raise)

    assert.equal(await storage.blocks.epoch('21'), 0)
    assert.deepEqual(await change(storage.blocks, { ...KEY, userId: '31' }, epochOf), { result: 1, events: [] })
    assert.deepEqual(await change(storage.blocks, { ...KEY, organizationId: '21' }, epochOf), { result: 0, events: [] })
  }),

  storageCase('the epoch stays when a blocked user is deleted', async (storage) => {
    await change(storage.blocks, KEY, raise)
    await block(storage, '20', '30')
    await retire(storage, { thing: 'user', userId: '30' })

    assert.equal(await storage.blocks.epoch('20'), 1)
  }),

  hostCase(
    'in a host’s transaction the epoch is raised, and read by its changes',
    ['begin'],
    async (storage, bench) => {
      const { transaction, rollback } = await bench.begin()
      await change(storage.blocks, KEY, raise, { transaction })
      assert.equal(await storage.blocks.epoch('20', transaction), 1)
      assert.equal((await change(storage.blocks, KEY, epochOf, { transaction })).result, 1)
      await rollback()

      assert.equal(await storage.blocks.epoch('20'), 0)
    },
  ),

  ...raceCases('a user who becomes a member while being blocked is never member and blocked', async (one, other) => {
    const members = new Set<string>()
    for (const userIds of waves()) {
      const rounds = userIds.map(async (userId) => {
        const pause = Number(userId) % 4
        const work = [blockUnlessMember(one, userId, { members, pause }), admit(other, userId, { members, pause: 1 })]
        await atOnce(work, 'CANNOT_BLOCK_MEMBER', 'ALREADY_BLOCKED')
      })
      await Promise.all(rounds)
    }
    const blocked = await blockedBy(one, '20')

    assert.deepEqual(
      blocked.filter((userId) => members.has(userId)),
      [],
    )
    assert.equal(blocked.length + members.size, ROUNDS)
  }),

  ...raceCases('an issue that is deleted while it is pinned is never left on a board', async (one, other) => {
    for (const issueIds of waves()) {
      const work = issueIds.flatMap((issueId) => {
        const gone: Retired = { thing: 'issue', issueId, ...BOARD }
        return Number(issueId) % 2 === 0
          ? [pin(one, BOARD, issueId), retire(other, gone)]
          : [retire(one, gone), pin(other, BOARD, issueId)]
      })
      await atOnce<unknown>(work, 'ISSUE_NOT_FOUND')
    }

    assert.deepEqual(await issuesOn(one, BOARD), [])
  }),

  ...raceCases(
    'an issue that is deleted while it is pinned in another repository is on no board',
    async (one, other) => {
      const boards = idsTo(20).map((repositoryId) => ({ repositoryId, kind: 'issue' as const }))
      const work = boards.flatMap((board) => {
        const gone: Retired = { thing: 'issue', issueId: board.repositoryId, ...BOARD }
        return [pin(one, board, board.repositoryId), retire(other, gone)]
      })
      await atOnce<unknown>(work, 'ISSUE_NOT_FOUND')
      const left = await Promise.all(boards.map((board) => issuesOn(other, board)))

      assert.deepEqual(left.flat(), [])
    },
  ),

  ...raceCases('a repository that is deleted while issues are pinned keeps none', async (one, other) => {
    await overtaken(
      'REPOSITORY_NOT_FOUND',
      (n) => [pin(one, { repositoryId: n, kind: 'issue' }, n), pin(one, { repositoryId: n, kind: 'pullRequest' }, n)],
      (n) => retire(other, { thing: 'repository', repositoryId: n }),
      (n) => [other.pinBoards.load({ repositoryId: n, kind: 'issue' })],
    )
  }),

  ...raceCases('an organization that is deleted while users are blocked blocks none', async (one, other) => {
    await overtaken(
      'ORGANIZATION_NOT_FOUND',
      (n) => [block(one, n, '31'), block(other, n, '32')],
      (n) => retire(other, { thing: 'organization', organizationId: n }),
      (n) => [one.blocks.page(n, { from: { page: 1 }, limit: 30 })],
    )
    assert.deepEqual(await one.blocks.among('7', ['31', '32']), new Set())
  }),

  ...raceCases('a user who is deleted while being blocked and granted badges keeps neither', async (one, other) => {
    for (const slug of ['a', 'b']) await define(one, slug)
    await overtaken(
      'USER_NOT_FOUND',
      (n) => [block(one, '20', n), grant(other, n, ['a', 'b']), block(other, '21', n)],
      (n) => retire(other, { thing: 'user', userId: n }),
      (n) => [slugsHeldBy(one, n)],
    )
    assert.deepEqual([await blockedBy(one, '20'), await blockedBy(other, '21')], [[], []])
  }),

  ...raceCases('an epoch that one storage raises is what a change of the other sees', async (one, other) => {
    assert.equal(await one.blocks.epoch('20'), 0)
    await change(other.blocks, KEY, raise)

    assert.equal(await one.blocks.epoch('20'), 1)
    assert.equal((await change(one.blocks, KEY, epochOf)).result, 1)
  }),

  ...raceCases('what one storage has retired the other refuses', async (one, other) => {
    await pin(other, BOARD, '1')
    await retire(one, { thing: 'issue', issueId: '1', ...BOARD })
    await retire(one, { thing: 'user', userId: '30' })
    await retire(one, { thing: 'organization', organizationId: '20' })
    await retire(one, { thing: 'repository', repositoryId: '11' })
    const calls: readonly (readonly [ForgeErrorCode, () => Promise<unknown>])[] = [
      ['ISSUE_NOT_FOUND', () => pin(other, BOARD, '1')],
      ['USER_NOT_FOUND', () => block(other, '21', '30')],
      ['ORGANIZATION_NOT_FOUND', () => block(other, '20', '31')],
      ['REPOSITORY_NOT_FOUND', () => pin(other, { ...BOARD, repositoryId: '11' }, '2')],
    ]

    for (const [code, call] of calls) assert.deepEqual(await atOnce([call()], code), [])
  }),
]

/** Returns the ids of all rounds, in groups that run one after the other. */
function waves(): readonly (readonly string[])[] {
  const ids = idsTo(ROUNDS)
  return Array.from({ length: ROUNDS / ROUNDS_AT_ONCE }, (_, n) =>
    ids.slice(n * ROUNDS_AT_ONCE, (n + 1) * ROUNDS_AT_ONCE),
  )
}

interface Membership {
  readonly members: Set<string>
  /** The turns of the event loop between the look-up and the change. */
  readonly pause: number
}

/**
 * Looks up the membership, and blocks the user if it is not a member. Starts again if a lifecycle call ran in between.
 */
async function blockUnlessMember<Tx>(storage: ForgeStorage<Tx>, userId: string, host: Membership): Promise<void> {
  for (;;) {
    const key = { organizationId: '20', userId }
    const epoch = await storage.blocks.epoch('20')
    if (host.members.has(userId)) throw new ForgeError('CANNOT_BLOCK_MEMBER', 'a member')

    await turns(host.pause)
    const block = { ...key, note: '', blockedAt: NOON, blockedBy: null }
    const events = [{ ...NO_SUBJECT, type: 'user.blocked' as const, data: { note: '' }, ...key }]
    const { result: isBlocked } = await change(storage.blocks, key, (state) =>
      state.epoch === epoch
        ? { state: { ...state, block }, events, result: true }
        : { state, events: [], result: false },
    )
    if (isBlocked) return
  }
}

/** Adds a member and raises the epoch. Removes the member again if the user is blocked. */
async function admit<Tx>(storage: ForgeStorage<Tx>, userId: string, { members, pause }: Membership): Promise<void> {
  await turns(pause)
  members.add(userId)
  try {
    await change(storage.blocks, { organizationId: '20', userId }, (state) => {
      assertNotBlocked(state.block)
      return raise(state)
    })
  } catch (error) {
    members.delete(userId)
    throw error
  }
}

function raise(state: BlockState): { state: BlockState; events: []; result: number } {
  const epoch = state.epoch + 1
  return { state: { ...state, epoch }, events: [], result: epoch }
}

function epochOf(state: BlockState): { state: BlockState; events: []; result: number } {
  return { state, events: [], result: state.epoch }
}

/**
 * Races changes against the retirement of their subject. The storage must refuse the changes with this code, and later
 * reads too.
 */
async function overtaken(
  code: ForgeErrorCode,
  changes: (n: string) => readonly Promise<unknown>[],
  retirement: (n: string) => Promise<unknown>,
  reads: (n: string) => readonly unknown[],
): Promise<void> {
  for (const n of idsTo(20)) {
    const first = Number(n) % 2 === 0 ? [retirement(n)] : []
    await atOnce([...first, ...changes(n), ...(first.length === 0 ? [retirement(n)] : [])], code)
    const outcomes = await atOnce([Promise.resolve().then(() => Promise.all(reads(n)))], code)
    assert.deepEqual(outcomes, [], `${n} is gone`)
  }
}
