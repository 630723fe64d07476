import assert from 'node:assert/strict'
import type { Id } from '../../../index.ts'
import { blockUser } from '../../../index.ts'
import type { BlockKey, BlockState, ForgeStorage } from '../../../storage/storage.ts'
import { define, grant, removeBadge, slugsHeldBy } from '../samples/badges.ts'
import { block, blockedBy, blocksOf, unblock } from '../samples/blocks.ts'
import { Draw } from '../samples/draw.ts'
import { LATER, outbox } from '../samples/outbox.ts'
import { BOARD, fillBoard, issuesOn, moveToFront, pin, unpin } from '../samples/pin-boards.ts'
import type { Extras } from '../samples/sample.ts'
import { about, change, left, NOON } from '../samples/sample.ts'
import { meeting, whileWaiting } from './gate.ts'
import { assertRefused, atOnce, idsTo } from './race.ts'
import type { CaseHost, HostRows, StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, refuses } from './storage-case.ts'

const KEY: BlockKey = { organizationId: '20', userId: '30' }
/** An id of nothing. */
const NOTHING = '777777777'
const LEVELS = ['begin', 'beginSnapshot', 'beginReadCommitted'] as const

/** Cases about rows of the host that are deleted, and members, where a storage knows the tables. Source: docs/storage.md */
export const tableCases: readonly StorageCase[] = [
  tableCase('the pin of an issue that the host deletes is gone, and leaves no gap', async (storage, rows) => {
    for (const issueId of ['1', '2', '3', '4']) await pin(storage, BOARD, issueId)
    await rows.remove('issue', '2')
    await expectBoard(storage, ['1', '3', '4'])
    assert.equal(await pin(storage, BOARD, '5', { limit: 4 }), 4)
    await expectBoard(storage, ['1', '3', '4', '5'])
    await rows.remove('issue', '1')
    await moveToFront(storage, BOARD, '5')
    await expectBoard(storage, ['5', '3', '4'])
    await rows.remove('issue', '3')
    await unpin(storage, BOARD, '5')
    await expectBoard(storage, ['4'])
    await rows.remove('issue', '4')
    await expectBoard(storage, [])
    assert.equal(await pin(storage, BOARD, '6', { limit: 1 }), 1)
  }),

  ...[1, 2].map((seed) =>
    tableCase(`after drawn changes and deletions (seed ${seed}) a board is in its order`, (storage, rows) =>
      compareBoards(storage, rows, new Draw(seed), { hides: false }),
    ),
  ),

  tableCase('a page counts what is left when the host has deleted users', async (storage, rows) => {
    await define(storage, 'owl')
    for (const userId of ['30', '31', '32', '33']) {
      await block(storage, '20', userId)
      await grant(storage, userId, ['owl'])
    }
    const first = await storage.blocks.page('20', { from: { page: 1 }, limit: 1 })
    for (const userId of ['30', '32']) await rows.remove('user', userId)

    assert.deepEqual(await blockedBy(storage, '20'), ['31', '33'])
    const next = await storage.blocks.page('20', { from: { after: first.cursor ?? '' }, limit: 1 })
    assert.deepEqual(
      next.items.map(({ userId }) => userId),
      ['31'],
    )
    const holders = await storage.userBadges.holders('owl', { from: { page: 1 }, limit: 1 })
    assert.deepEqual([holders?.total, holders?.items.map(({ userId }) => userId)], [2, ['31']])
    await block(storage, '20', '34')
    assert.deepEqual(await blockedBy(storage, '20'), ['31', '33', '34'])
    await refuses('BADGE_IN_USE', () => removeBadge(storage, 'owl'))
    for (const userId of ['31', '33']) await rows.remove('user', userId)
    await removeBadge(storage, 'owl')
  }),

  tableCase('the pins, blocks and grants of an actor whom the host deletes stay without it', async (storage, rows) => {
    await define(storage, 'owl')
    await pin(storage, BOARD, '1')
    await block(storage, '20', '30')
    await grant(storage, '30', ['owl'])
    const events = await outbox(storage)
    await rows.remove('user', '7')

    assert.deepEqual(
      (await storage.pinBoards.load(BOARD)).map(({ pinnedBy }) => pinnedBy),
      [null],
    )
    assert.equal((await storage.blocks.find(KEY))?.blockedBy, null)
    assert.deepEqual(
      (await storage.userBadges.heldBy('30')).map(({ grantedBy }) => grantedBy),
      [null],
    )
    assert.deepEqual(await outbox(storage), events)
  }),

  tableCase('an actor who has no row is stored as none', async (storage) => {
    const by = { actorId: NOTHING, at: () => NOON }
    await define(storage, 'owl')
    await pin(storage, BOARD, '1', { by })
    await block(storage, '20', '30', { by })
    await grant(storage, '30', ['owl'], { by })
    await change(storage.blocks, KEY, ({ block: found, ...rest }) => {
      const renoted = found && { ...found, note: 'again', blockedBy: NOTHING }
      return { state: { ...rest, block: renoted }, events: [], result: undefined }
    })

    assert.deepEqual(
      (await storage.pinBoards.load(BOARD)).map(({ pinnedBy }) => pinnedBy),
      [null],
    )
    const { note, blockedBy: blocker } = (await storage.blocks.find(KEY)) ?? {}
    assert.deepEqual([note, blocker], ['again', null])
    assert.deepEqual(
      (await storage.userBadges.heldBy('30')).map(({ grantedBy }) => grantedBy),
      [null],
    )
    assert.equal((await outbox(storage)).at(-1)?.actorId, NOTHING)
  }),

  tableCase('what has no row is refused by its name, and nothing is written', async (storage) => {
    await define(storage, 'owl')
    const events = await outbox(storage)
    const board = { ...BOARD, repositoryId: NOTHING }
    const page = { from: { page: 1 }, limit: 10 } as const
    await refuses('ISSUE_NOT_FOUND', () => fillBoard(storage, BOARD, ['1', NOTHING, '2']))
    await refuses('REPOSITORY_NOT_FOUND', () => pin(storage, board, '1'))
    await refuses('REPOSITORY_NOT_FOUND', () => unpin(storage, board, '1'))
    await refuses('REPOSITORY_NOT_FOUND', () => storage.pinBoards.load(board))
    await refuses('REPOSITORY_NOT_FOUND', () => change(storage.issueImports, board, left))
    await refuses('ORGANIZATION_NOT_FOUND', () => block(storage, NOTHING, '30'))
    await refuses('ORGANIZATION_NOT_FOUND', () => storage.blocks.page(NOTHING, page))
    await refuses('USER_NOT_FOUND', () => block(storage, '20', NOTHING))
    await refuses('USER_NOT_FOUND', () => grant(storage, NOTHING, ['owl']))
    await refuses('USER_NOT_FOUND', () => storage.userBadges.heldBy(NOTHING))

    assert.deepEqual(await issuesOn(storage, BOARD), [])
    assert.deepEqual(await blocksOf(storage, '20'), [])
    assert.deepEqual(await outbox(storage), events)
  }),

  tableCase(
    'what the host deletes goes from every storage in the database that knows the tables',
    async (storage, rows, bench) => {
      const other = await bench.beside()
      for (const each of [storage, other]) {
        for (const issueId of ['1', '2']) await pin(each, BOARD, issueId)
        await block(each, '20', each === storage ? '30' : '31')
      }
      await rows.remove('issue', '1')
      await rows.remove('user', '30')
      await rejects(rows.addMember({ ...KEY, userId: '31' }))

      for (const each of [storage, other]) await expectBoard(each, ['2'])
      assert.deepEqual([await blockedBy(storage, '20'), await blockedBy(other, '20')], [[], ['31']])
    },
    ['beside'],
  ),

  tableCase('an id that the host gives again begins with nothing', async (storage, rows) => {
    await pin(storage, BOARD, '1')
    await block(storage, '20', '30')
    for (const thing of ['issue', 'repository', 'user', 'organization'] as const) {
      const id = { issue: '1', repository: '10', user: '30', organization: '20' }[thing]
      await rows.remove(thing, id)
      await rows.create(thing, id)
    }

    await expectBoard(storage, [])
    assert.deepEqual(await blockedBy(storage, '20'), [])
    assert.equal(await pin(storage, BOARD, '1', { limit: 1 }), 1)
    await block(storage, '20', '30')
    assert.deepEqual(await blockedBy(storage, '20'), ['30'])
  }),

  tableCase('events of issues that the host has deleted are no history to keep', async (storage, rows) => {
    for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
    await pin(storage, { ...BOARD, repositoryId: '11' }, '3')
    assert.equal(await storage.events.prune(LATER), 0)
    await rows.remove('issue', '1')
    await rows.remove('repository', '11')
    assert.equal(await storage.events.prune(LATER), 2)
    assert.deepEqual((await storage.events.history('2')).length, 1)
  }),

  tableCase('a member is seen under the lock, and one who is blocked cannot become a member', async (storage, rows) => {
    await rows.addMember(KEY)
    await refuses('CANNOT_BLOCK_MEMBER', () => blockOutsider(storage, KEY))
    const other = { ...KEY, userId: '31' }
    await blockOutsider(storage, other)
    await rejects(rows.addMember(other))
    await rows.addMember({ ...other, organizationId: '21' })
    await unblock(storage, '20', '31')
    await rows.addMember(other)
    await refuses('CANNOT_BLOCK_MEMBER', () => blockOutsider(storage, other))
  }),

  tableCase('users who become members while being blocked are never both', async (storage, rows) => {
    const users = idsTo(40)
    const joined = await Promise.all(
      users.map(async (userId) => {
        const joining = outcomeOf(() => rows.addMember({ ...KEY, userId }))
        await atOnce([blockOutsider(storage, { ...KEY, userId })], 'CANNOT_BLOCK_MEMBER')
        return 'value' in (await joining) ? [userId] : []
      }),
    )
    const blocked = await blockedBy(storage, '20')

    assert.deepEqual(
      joined.flat().filter((userId) => blocked.includes(userId)),
      [],
    )
    assert.equal(joined.flat().length + blocked.length, users.length)
  }),

  ...LEVELS.flatMap((level): readonly StorageCase[] => {
    const where = level === 'begin' ? '' : level === 'beginSnapshot' ? ', from a snapshot' : ', from what is committed'
    const levelCase = (name: string, check: Check, needs: StorageCase['needs'] = []) =>
      tableCase(`in a host’s transaction${where}, ${name}`, check, [level, ...needs])
    /** Beside a transaction of the host, something else is done: the database must have more than one connection. */
    const besideCase = (name: string, check: Check) => levelCase(name, check, ['again'])
    const used = async <Tx>(storage: ForgeStorage<Tx>) => void (await block(storage, '20', '99'))
    return [
      besideCase('a block sees a member who joined before, or is refused', async (storage, rows, bench) => {
        await used(storage)
        const { transaction, commit, rollback } = await bench.begin(level)
        await storage.blocks.find(KEY, transaction)
        if ('thrown' in (await outcomeOf(() => rows.addMember(KEY)))) return await rollback() // there is one writer
        const blocking = await outcomeOf(() => blockOutsider(storage, KEY, { transaction }))
        await ('value' in blocking ? commit() : rollback())

        assert.ok('thrown' in blocking, 'a member is not blocked')
        assert.deepEqual(await blockedBy(storage, '20'), ['99'])
      }),

      besideCase(
        'a user who is blocked meanwhile does not become a member, or is not blocked',
        async (storage, rows, bench) => {
          await used(storage)
          const { transaction, commit, rollback } = await bench.begin(level)
          await storage.blocks.find(KEY, transaction)
          const blocking = outcomeOf(() => blockOutsider(storage, KEY))
          await whileWaiting(blocking)
          const joining = await outcomeOf(() => rows.addMember(KEY, transaction))
          const isMember = 'value' in joining && 'value' in (await outcomeOf(commit))
          if (!isMember) await outcomeOf(rollback)

          assert.equal('value' in (await blocking), !isMember, 'blocked, or a member')
        },
      ),

      ...(['commit', 'rollback'] as const).map((end) =>
        besideCase(`a block waits for a member until its ${end}`, async (storage, rows, bench) => {
          const begun = await bench.begin(level)
          await rows.addMember(KEY, begun.transaction)
          const blocking = outcomeOf(() => blockOutsider(storage, KEY))
          await whileWaiting(blocking)
          await begun[end]()
          const outcome = await blocking

          if (end === 'commit') assertRefused(outcome, 'CANNOT_BLOCK_MEMBER')
          else assert.ok('value' in outcome, `blocked, but it threw ${'thrown' in outcome ? outcome.thrown : ''}`)
        }),
      ),

      levelCase('what it has added and deleted itself is seen', async (storage, rows, bench) => {
        for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
        const { transaction, commit } = await bench.begin(level)
        await rows.remove('issue', '1', transaction)
        await rows.remove('user', '7', transaction)
        await refuses('ISSUE_NOT_FOUND', () => pin(storage, BOARD, '1', { transaction }))
        assert.deepEqual(await issuesOn(storage, BOARD, transaction), ['2'])
        assert.equal(await pin(storage, BOARD, '3', { transaction, limit: 2 }), 2)
        await rows.addMember(KEY, transaction)
        await refuses('CANNOT_BLOCK_MEMBER', () => blockOutsider(storage, KEY, { transaction }))
        await commit()

        await expectBoard(storage, ['2', '3'])
        assert.deepEqual(
          (await storage.pinBoards.load(BOARD)).map(({ pinnedBy }) => pinnedBy),
          [null, null],
        )
        assert.deepEqual(await blockedBy(storage, '20'), [])
      }),
    ]
  }),
]

/** Cases about rows that the host hides, and shows again. */
export const hidingCases: readonly StorageCase[] = [
  tableCase('a hidden issue is on no board, does not count, and comes back to its place', async (storage, rows) => {
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
      (await storage.blocks.find(KEY))?.userId,
      (await storage.userBadges.holders('owl', { from: { page: 1 }, limit: 10 }))?.total,
      (await storage.userBadges.heldByMany(['30', '31'])).map((grants) => grants.length),
    ]
    const before = await seen()
    await rows.hide('user', { id: '30', isHidden: true })
    assert.deepEqual(await seen(), [['31'], ['31'], undefined, 1, [0, 1]])
    await refuses('USER_NOT_FOUND', () => block(storage, '20', '30'))
    await refuses('USER_NOT_FOUND', () => grant(storage, '30', ['owl']))
    await refuses('USER_NOT_FOUND', () => storage.userBadges.heldBy('30'))
    await rejects(rows.addMember(KEY))
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

type Check = <Tx>(storage: ForgeStorage<Tx>, rows: HostRows<Tx>, bench: CaseHost<Tx>) => Promise<void>

function tableCase(name: string, check: Check, needs: StorageCase['needs'] = []): StorageCase {
  return hostCase(name, ['tables', ...needs], (storage, bench) => check(storage, bench.rows, bench))
}

async function rejects(call: Promise<unknown>): Promise<void> {
  assert.ok('thrown' in (await outcomeOf(() => call)), 'refused, but it answered')
}

/** Checks what is on the board, and each position. */
async function expectBoard<Tx>(storage: ForgeStorage<Tx>, issueIds: readonly Id[]): Promise<void> {
  assert.deepEqual(await issuesOn(storage, BOARD), issueIds)
  const positions = await storage.pinBoards.positions(issueIds.map((issueId) => ({ issueId, ...BOARD })))
  assert.deepEqual(
    positions,
    issueIds.map((_, index) => index + 1),
  )
}

/** Blocks a user who is no member, as far as the storage sees. */
async function blockOutsider<Tx>(storage: ForgeStorage<Tx>, key: BlockKey, extras: Extras<Tx> = {}): Promise<void> {
  const decide = (before: BlockState, at: Date) => {
    const blocked = { ...key, note: '', blockedAt: at, blockedBy: null }
    const { state, ...decided } = blockUser(before.block, blocked, before.isMember === true)
    return about(key, { state: { ...before, block: state }, ...decided })
  }
  await change(storage.blocks, key, decide, extras)
}

/** Changes a board, and deletes and hides issues, as it is drawn. A list has what must be there. */
async function compareBoards<Tx>(
  storage: ForgeStorage<Tx>,
  rows: HostRows<Tx>,
  draw: Draw,
  { hides }: { readonly hides: boolean },
): Promise<void> {
  const limit = 5
  const hidden = new Set<Id>()
  let pinned: readonly Id[] = []
  const shown = () => pinned.filter((id) => !hidden.has(id))
  const acts = ['pin', 'pin', 'pin', 'unpin', 'move', 'remove', ...(hides ? ['hide', 'show', 'show'] : [])]
  for (let step = 0; step < 60; step += 1) {
    const [act, id] = [acts[draw.below(acts.length)], String(1 + draw.below(8))]
    const isShown = shown().includes(id)
    if (act === 'pin' && !hidden.has(id) && !isShown && shown().length < limit) {
      await pin(storage, BOARD, id, { limit })
      pinned = [...pinned, id]
    } else if (act === 'unpin' && isShown) {
      await unpin(storage, BOARD, id)
      pinned = pinned.filter((one) => one !== id)
    } else if (act === 'move' && isShown) {
      await moveToFront(storage, BOARD, id)
      pinned = movedToFront(pinned, id, hidden)
    } else if (act === 'remove') {
      await rows.remove('issue', id)
      await rows.create('issue', id)
      hidden.delete(id)
      pinned = pinned.filter((one) => one !== id)
    } else if (act === 'hide' || act === 'show') {
      await rows.hide('issue', { id, isHidden: act === 'hide' })
      if (act === 'hide') hidden.add(id)
      else hidden.delete(id)
    }
    await expectBoard(storage, shown())
  }
}

/** Those at the front that are hidden stay there. */
function movedToFront(pinned: readonly Id[], id: Id, hidden: ReadonlySet<Id>): readonly Id[] {
  const others = pinned.filter((one) => one !== id)
  const front = pinned.findIndex((one) => !hidden.has(one))
  return [...others.slice(0, front), id, ...others.slice(front)]
}
