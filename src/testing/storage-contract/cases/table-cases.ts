import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { define, grant, removeBadge } from '../samples/badges.ts'
import { BLOCK, block, blockedBy, blocksOf, unblock } from '../samples/blocks.ts'
import { LATER, outbox } from '../samples/outbox.ts'
import { BOARD, fillBoard, issuesOn, moveToFront, pin, unpin } from '../samples/pin-boards.ts'
import { change, Draw, left, NOON } from '../samples/sample.ts'
import { whileWaiting } from './gate.ts'
import { assertMade, assertRefused, atOnce, idsTo } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses } from './storage-case.ts'
import type { Check } from './table-case.ts'
import { blockOutsider, compareBoards, expectBoard, LEVELS, rejects, tableCase } from './table-case.ts'

/** Returns who pinned on the board, who blocked the user of `BLOCK`, and who granted badges to that user. */
async function authorsIn<Tx>(storage: ForgeStorage<Tx>): Promise<readonly unknown[]> {
  const pins = await storage.pinBoards.load(BOARD)
  const found = await storage.blocks.find(BLOCK)
  const grants = await storage.userBadges.heldBy(BLOCK.userId)
  return [...pins.map(({ pinnedBy }) => pinnedBy), found?.blockedBy, ...grants.map(({ grantedBy }) => grantedBy)]
}

/** An id of nothing. */
const NOTHING = '777777777'

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
    assert.equal(next.items[0]?.userId, '31')
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

    assert.deepEqual(await authorsIn(storage), [null, null, null])
    assert.deepEqual(await outbox(storage), events)
  }),

  tableCase('an actor who has no row is stored as none', async (storage) => {
    const by = { actorId: NOTHING, at: () => NOON }
    await define(storage, 'owl')
    await pin(storage, BOARD, '1', { by })
    await block(storage, '20', '30', { by })
    await grant(storage, '30', ['owl'], { by })
    await change(storage.blocks, BLOCK, ({ block: found, ...rest }) => {
      const renoted = found && { ...found, note: 'again', blockedBy: NOTHING }
      return { state: { ...rest, block: renoted }, events: [], result: undefined }
    })

    assert.deepEqual(await authorsIn(storage), [null, null, null])
    assert.equal((await storage.blocks.find(BLOCK))?.note, 'again')
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
      await rejects(rows.addMember({ ...BLOCK, userId: '31' }))

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
    await rows.addMember(BLOCK)
    await refuses('CANNOT_BLOCK_MEMBER', () => blockOutsider(storage, BLOCK))
    const other = { ...BLOCK, userId: '31' }
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
        const joining = outcomeOf(() => rows.addMember({ ...BLOCK, userId }))
        await atOnce([blockOutsider(storage, { ...BLOCK, userId })], 'CANNOT_BLOCK_MEMBER')
        return 'value' in (await joining) ? [userId] : []
      }),
    )
    const blocked = await blockedBy(storage, '20')
    const both = joined.flat().filter((userId) => blocked.includes(userId))

    assert.deepEqual(both, [])
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
        await storage.blocks.find(BLOCK, transaction)
        if ('thrown' in (await outcomeOf(() => rows.addMember(BLOCK)))) return await rollback() // there is one writer
        const blocking = await outcomeOf(() => blockOutsider(storage, BLOCK, { transaction }))
        await ('value' in blocking ? commit() : rollback())

        assert.ok('thrown' in blocking, 'a member is not blocked')
        assert.deepEqual(await blockedBy(storage, '20'), ['99'])
      }),

      besideCase(
        'a user who is blocked meanwhile does not become a member, or is not blocked',
        async (storage, rows, bench) => {
          await used(storage)
          const { transaction, commit, rollback } = await bench.begin(level)
          await storage.blocks.find(BLOCK, transaction)
          const blocking = outcomeOf(() => blockOutsider(storage, BLOCK))
          await whileWaiting(blocking)
          const joining = await outcomeOf(() => rows.addMember(BLOCK, transaction))
          const isMember = 'value' in joining && 'value' in (await outcomeOf(commit))
          if (!isMember) await outcomeOf(rollback)

          assert.equal('value' in (await blocking), !isMember, 'blocked, or a member')
        },
      ),

      ...(['commit', 'rollback'] as const).map((end) =>
        besideCase(`a block waits for a member until its ${end}`, async (storage, rows, bench) => {
          const begun = await bench.begin(level)
          await rows.addMember(BLOCK, begun.transaction)
          const blocking = outcomeOf(() => blockOutsider(storage, BLOCK))
          await whileWaiting(blocking)
          await begun[end]()
          const outcome = await blocking

          if (end === 'commit') assertRefused(outcome, 'CANNOT_BLOCK_MEMBER')
          else assertMade(outcome)
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
        await rows.addMember(BLOCK, transaction)
        await refuses('CANNOT_BLOCK_MEMBER', () => blockOutsider(storage, BLOCK, { transaction }))
        await commit()

        await expectBoard(storage, ['2', '3'])
        assert.deepEqual(await authorsIn(storage), [null, null, undefined])
        assert.deepEqual(await blockedBy(storage, '20'), [])
      }),
    ]
  }),
]
