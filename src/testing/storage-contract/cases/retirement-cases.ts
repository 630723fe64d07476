import assert from 'node:assert/strict'
import { blockedBy, issuesOn, slugsHeldBy } from './contents.ts'
import { fill, ISSUE, ORGANIZATION, OTHER, PULLS, REPOSITORY, summary, USER } from './retirement-samples.ts'
import { BOARD, block, change, define, grant, pin, retire, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

/** Cases about retirement: a retired subject takes everything that depends on it along, and never returns. */
export const retirementCases: readonly StorageCase[] = [
  storageCase('a retired user loses its blocks and grants, and nothing else is removed', async (storage) => {
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

  storageCase('a retired organization loses its blocks, and nothing else is removed', async (storage) => {
    await fill(storage)
    const [event] = await retire(storage, ORGANIZATION)

    assert.deepEqual(event?.data, { blocks: 3 })
    assert.deepEqual(await storage.blocks.among('20', ['30', '31', '32']), new Set())
    assert.deepEqual(await blockedBy(storage, '21'), ['30', '31'])
    assert.deepEqual(await slugsHeldBy(storage, '30'), ['a', 'b'])
    assert.deepEqual(await issuesOn(storage, BOARD), ['1', '2', '3'])
  }),

  storageCase('a retired issue is also removed from the board of another repository', async (storage) => {
    await fill(storage)
    await pin(storage, OTHER, '2')
    const [event] = await retire(storage, ISSUE)

    assert.deepEqual(event?.data, { wasPinned: true })
    assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3'])
    assert.deepEqual(await issuesOn(storage, OTHER), ['9'])
    assert.deepEqual(await issuesOn(storage, PULLS), ['2', '4'])
  }),

  storageCase(
    'a retired repository loses the pins of both its boards, and nothing else is removed',
    async (storage) => {
      await fill(storage)
      const [event] = await retire(storage, REPOSITORY)

      assert.deepEqual(event?.data, { pins: 5 })
      assert.deepEqual(await issuesOn(storage, OTHER), ['9'])
      assert.deepEqual(await blockedBy(storage, '20'), ['31', '30', '32'])
    },
  ),

  storageCase('a retired issue leaves no gap on its board', async (storage) => {
    await fill(storage)
    const [event] = await retire(storage, ISSUE)

    assert.deepEqual(event?.data, { wasPinned: true })
    assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3'])
    assert.deepEqual(await issuesOn(storage, PULLS), ['2', '4'])
    assert.equal(await pin(storage, BOARD, '5'), 3)
    assert.deepEqual(await issuesOn(storage, BOARD), ['1', '3', '5'])
  }),

  storageCase('beforeCommit receives the events of a retirement before it is committed', async (storage) => {
    const received: unknown[] = []
    const events = await retire(storage, USER, { beforeCommit: (events) => void received.push(...events) })

    assert.deepEqual(received, events)
  }),

  storageCase(
    'a board stays usable without its retired issue: others are pinned and unpinned, and the retired one can be unpinned',
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

  storageCase('a user retired while being blocked concurrently is not blocked in the end', async (storage) => {
    const work = Array.from({ length: 40 }, (_, n) =>
      n === 20 ? retire(storage, USER) : block(storage, String(200 + n), '30'),
    )
    await Promise.allSettled(work)
    const left = await Promise.all(Array.from({ length: 40 }, (_, n) => blockedBy(storage, String(200 + n))))

    assert.deepEqual(left.flat(), [])
  }),

  storageCase('a user with three hundred blocks is retired completely, and every total is right', async (storage) => {
    const organizationIds = Array.from({ length: 300 }, (_, n) => String(5000 + n))
    while (organizationIds.length > 0) {
      const wave = organizationIds.splice(0, 50)
      await Promise.all(wave.map((organizationId) => block(storage, organizationId, '30')))
    }
    await block(storage, '5150', '31')
    const [event] = await retire(storage, USER)

    assert.deepEqual(event?.data, { blocks: 300, grants: 0 })
    assert.deepEqual(await blockedBy(storage, '5150'), ['31'])
    assert.deepEqual(await blockedBy(storage, '5299'), [])
  }),
]
