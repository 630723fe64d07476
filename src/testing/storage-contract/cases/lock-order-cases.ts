import assert from 'node:assert/strict'
import type { ForgeErrorCode } from '../../../index.ts'
import type { ForgeStorage, PinBoardKey } from '../../../storage/storage.ts'
import type { BegunTransaction } from '../contract-host.ts'
import { block, blockByUser, blockedByUser, unblock, unblockByUser } from '../samples/blocks.ts'
import { BOARD, fillBoard, issuesOn, pin, unpin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import type { Extras } from '../samples/sample.ts'
import { whileWaiting } from './gate.ts'
import { assertMade, assertRefused } from './race.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

const OTHER: PinBoardKey = { ...BOARD, repositoryId: '11' }
const THIRD: PinBoardKey = { ...BOARD, repositoryId: '12' }
const REPOSITORY = { thing: 'repository', repositoryId: BOARD.repositoryId } as const
const ORGANIZATION = { thing: 'organization', organizationId: '20' } as const
const USER = { thing: 'user', userId: '30' } as const

type Work = <Tx>(storage: ForgeStorage<Tx>, extras: Extras<Tx>) => Promise<unknown>

/** Two changes that both need what a third transaction has locked. */
interface Queue {
  readonly name: string
  /** How the transactions begin, by default `begin`. */
  readonly begin?: 'begin' | 'beginReadCommitted'
  prepare<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
  /** Locks what both changes wait for. */
  readonly hold: Work
  readonly first: Work
  readonly second: Work
  /** The code with which the first change is refused if the second was faster. */
  readonly overtaken?: ForgeErrorCode
  /** Returns the ids that remain. */
  left<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
  readonly expected: unknown
}

const QUEUES: readonly Queue[] = [
  {
    name: 'a block and the deletion of its user that wait for one organization',
    prepare: (storage) => block(storage, '20', '30'),
    hold: (storage, extras) => block(storage, '20', '99', extras),
    first: (storage, extras) => unblock(storage, '20', '30', extras),
    second: (storage, extras) => retire(storage, USER, extras),
    overtaken: 'USER_NOT_FOUND',
    left: blocksLeft,
    expected: [],
  },
  {
    name: 'the deletions of an organization and of a user it blocks that wait for that organization',
    prepare: (storage) => block(storage, '20', '30'),
    hold: (storage, extras) => block(storage, '20', '99', extras),
    first: (storage, extras) => retire(storage, ORGANIZATION, extras),
    second: (storage, extras) => retire(storage, USER, extras),
    left: blocksLeft,
    expected: [],
  },
  {
    name: 'a block by a user and the deletion of whom it is about that wait for the user who blocks',
    prepare: (storage) => blockByUser(storage, '31', '30'),
    hold: (storage, extras) => blockByUser(storage, '31', '99', extras),
    first: (storage, extras) => unblockByUser(storage, '31', '30', extras),
    second: (storage, extras) => retire(storage, USER, extras),
    overtaken: 'USER_NOT_FOUND',
    left: (storage) => blockedByUser(storage, '31'),
    expected: [],
  },
  {
    name: 'the deletions of two users who block each other and a third that wait for that of the third',
    async prepare(storage) {
      for (const [blockerId, userId] of [
        ['30', '31'],
        ['31', '30'],
        ['30', '32'],
        ['31', '32'],
        ['32', '30'],
        ['32', '31'],
      ] as const)
        await blockByUser(storage, blockerId, userId)
    },
    hold: (storage, extras) => blockByUser(storage, '32', '99', extras),
    first: (storage, extras) => retire(storage, USER, extras),
    second: (storage, extras) => retire(storage, { thing: 'user', userId: '31' }, extras),
    left: (storage) => blockedByUser(storage, '32'),
    expected: [],
  },
  {
    name: 'a pin and the deletion of its issue that wait for one board',
    prepare: (storage) => pin(storage, BOARD, '2'),
    hold: (storage, extras) => pin(storage, BOARD, '99', extras),
    first: (storage, extras) => pin(storage, BOARD, '1', extras),
    second: (storage, extras) => retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, extras),
    overtaken: 'ISSUE_NOT_FOUND',
    left: (storage) => issuesOn(storage, BOARD),
    expected: ['2'],
  },
  {
    name: 'the deletions of a repository and of an issue on its board that wait for that board',
    prepare: (storage) => pin(storage, BOARD, '1'),
    hold: (storage, extras) => pin(storage, BOARD, '99', extras),
    first: (storage, extras) => retire(storage, REPOSITORY, extras),
    second: (storage, extras) => retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, extras),
    left: async (storage) => 'thrown' in (await outcomeOf(() => issuesOn(storage, BOARD))),
    expected: true,
  },
  {
    name: 'the deletions of two issues on the same two boards that wait for one of them',
    prepare: (storage) => pinEach(storage, ['1', '2'], [BOARD, OTHER]),
    hold: (storage, extras) => pin(storage, BOARD, '99', extras),
    first: (storage, extras) => retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, extras),
    second: (storage, extras) => retire(storage, { thing: 'issue', issueId: '2', ...OTHER }, extras),
    left: (storage) => boardsLeft(storage, [BOARD, OTHER]),
    expected: [[], []],
  },
  {
    name: 'two changes that pin the same issues in opposite order and wait for one of them',
    begin: 'beginReadCommitted', // with gap locks, two pins on neighbouring boards may wait for each other
    async prepare(storage) {
      const boards = [BOARD, OTHER, THIRD]
      await pinEach(storage, ['1', '2'], boards)
      for (const board of boards) for (const issueId of ['1', '2']) await unpin(storage, board, issueId)
    },
    hold: (storage, extras) => pin(storage, THIRD, '1', extras),
    first: (storage, extras) => fillBoard(storage, BOARD, ['1', '2'], extras),
    second: (storage, extras) => fillBoard(storage, OTHER, ['2', '1'], extras),
    left: (storage) => boardsLeft(storage, [BOARD, OTHER, THIRD]),
    expected: [['1', '2'], ['2', '1'], []],
  },
]

/**
 * Cases about the order of locks: changes that wait for the same thing do not wait for each other.
 * Source: docs/storage.md, section 1
 */
export const lockOrderCases: readonly StorageCase[] = QUEUES.map(
  ({ name, begin = 'begin', prepare, hold, first, second, overtaken, left, expected }) =>
    hostCase(`${name} both succeed`, [begin], async (storage, bench) => {
      await prepare(storage)
      const [holder, one, other] = await beginThree(() => bench.begin(begin))
      if (holder === undefined || one === undefined || other === undefined) return

      await hold(storage, { transaction: holder.transaction })
      const earlier = outcomeOf(() => first(storage, { transaction: one.transaction }))
      await whileWaiting(earlier)
      const later = outcomeOf(() => second(storage, { transaction: other.transaction }))
      await whileWaiting(later)
      await holder.rollback() // after a commit, PostgreSQL does not serve them in order
      const [started, followed] = await Promise.all([endedWith(one, earlier), endedWith(other, later)])

      if ('thrown' in started && overtaken !== undefined) assertRefused(started, overtaken)
      else assertMade(started)
      assertMade(followed)
      assert.deepEqual(await left(storage), expected)
    }),
)

/** A time limit for work that must not wait, in milliseconds. */
const LONG_ENOUGH = 1000

/**
 * Begins three concurrent transactions, or fewer if the storage allows only one writer. In that case no wrong order of
 * waiting is possible.
 */
async function beginThree<Tx>(begin: () => Promise<BegunTransaction<Tx>>): Promise<readonly BegunTransaction<Tx>[]> {
  const begun: BegunTransaction<Tx>[] = []
  for (let n = 0; n < 3; n += 1) {
    const beginning = outcomeOf(async () => begun.push(await begin()))
    await whileWaiting(beginning, LONG_ENOUGH)
    if (begun.length > n) continue

    for (const { rollback } of begun) await rollback()
    await beginning
    return []
  }
  return begun
}

/** Ends a transaction after the work in it: commits if the work succeeded, otherwise rolls back. */
async function endedWith<Tx>({ commit, rollback }: BegunTransaction<Tx>, work: Promise<Outcome>): Promise<Outcome> {
  const outcome = await work
  await ('value' in outcome ? commit() : rollback())
  return outcome
}

async function pinEach<Tx>(
  storage: ForgeStorage<Tx>,
  issueIds: readonly string[],
  boards: readonly PinBoardKey[],
): Promise<void> {
  for (const board of boards) for (const issueId of issueIds) await pin(storage, board, issueId)
}

async function blocksLeft<Tx>(storage: ForgeStorage<Tx>): Promise<readonly string[]> {
  return [...(await storage.blocks.among('20', ['30', '99']))]
}

function boardsLeft<Tx>(storage: ForgeStorage<Tx>, boards: readonly PinBoardKey[]): Promise<readonly unknown[]> {
  return Promise.all(boards.map((board) => issuesOn(storage, board)))
}
