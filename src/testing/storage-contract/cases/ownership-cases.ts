import assert from 'node:assert/strict'
import type { PinRow } from '../../../storage/storage.ts'
import { AGGREGATES, everything, fill, reads } from '../samples/aggregates.ts'
import { define } from '../samples/badges.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, fillBoard, row } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import type { Instead } from '../samples/sample.ts'
import { change, NO_SUBJECT } from '../samples/sample.ts'
import type { StorageCase } from './storage-case.ts'
import { ofReports, storageCase } from './storage-case.ts'

/**
 * Cases about ownership: the caller owns the values that it passes or receives. A change to them does not change the
 * stored data.
 */
export const ownershipCases: readonly StorageCase[] = [
  storageCase('modifying what was returned changes nothing stored', async (storage) => {
    await fill(storage)
    const before = structuredClone(await everything(storage))
    const all = { from: { page: 1 }, limit: 100 } as const
    const others = [() => storage.events.list({}, all), () => storage.events.read({ after: undefined, limit: 100 })]
    for (const read of [...reads(storage).map(([, one]) => one), ...others]) {
      spoil(await read())
      assert.deepEqual(await everything(storage), before)
    }
  }),

  ...AGGREGATES.map((one) =>
    storageCase(
      `modifying what a change of ${one.name} receives or returned changes nothing stored`,
      async (storage) => {
        await fill(storage)
        await one.prepare(storage)
        const handed: unknown[] = []
        const keep: Instead = (decision, state, at) => {
          handed.push(state, decision, at)
          return decision
        }
        const at = new Date(1000)
        handed.push(at, await one.alter(storage, { instead: keep, by: { actorId: '7', at: () => at } }))
        const before = structuredClone(await everything(storage))
        for (const value of handed) spoil(value)
        assert.deepEqual(await everything(storage), before)

        const spoiling: Instead = (_decision, state) => {
          spoil(state)
          return { state, events: [], result: undefined }
        }
        await one.alter(storage, { instead: spoiling })
        assert.deepEqual(await everything(storage), before)
      },
    ),
  ),

  ofReports(
    storageCase(
      'modifying the events that beforeCommit receives changes none that is stored or returned',
      async (storage) => {
        const beforeCommit = (received: unknown) => spoil(received)
        const decide = (rows: readonly PinRow[]) => ({
          state: [...rows, row('1')],
          events: [pinned('1')],
          result: undefined,
        })
        const { events } = await change(storage.pinBoards, BOARD, decide, { beforeCommit })
        const retired = await retire(storage, { thing: 'issue', issueId: '9', ...BOARD }, { beforeCommit })

        assert.deepEqual([events[0]?.data, retired[0]?.data], [{ position: 1 }, { wasPinned: false }])
        assert.deepEqual(await outbox(storage), [...events, ...retired])
      },
    ),
  ),

  storageCase('modifying a key after the call changes nothing', async (storage) => {
    for (const slug of ['a', 'b']) await define(storage, slug)
    const [board, badges] = [{ ...BOARD }, { userId: '30', slugs: ['a'] }]
    const pending = fillBoard(storage, board, ['1'])
    const asked = change(storage.userBadges, badges, (state) => ({ state, events: [], result: state.known }))
    board.repositoryId = '99'
    badges.slugs.splice(0, 1, 'b')
    await pending
    const known = (await asked).result.map((badge) => badge.slug)

    assert.deepEqual(known, ['a'])
    assert.equal((await storage.pinBoards.load(BOARD)).length, 1)
    assert.equal((await storage.pinBoards.load(board)).length, 0)
  }),

  storageCase('modifying what is retired after the call changes nothing', async (storage) => {
    const retired = { thing: 'user', userId: '30' } as const
    const given = { ...retired }
    const data = { blocks: 0, grants: 0 }
    const record = () => ({ ...NO_SUBJECT, type: 'user.deleted', data, userId: '30' }) as const
    const pending = retire(storage, given, { record })
    Reflect.set(given, 'userId', '31')
    await pending

    assert.deepEqual(await storage.userBadges.heldBy('31'), [])
    assert.deepEqual(await retire(storage, retired), [])
  }),
]

function pinned(issueId: string) {
  return { ...NO_SUBJECT, type: 'issue.pinned' as const, data: { position: 1 }, repositoryId: '10', issueId }
}

/** Changes every part of a value that can be changed. Frozen parts stay unchanged, which is also correct. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (value instanceof Date) value.setTime(13)
  if (value instanceof Set) value.clear()

  for (const inner of Object.values(value)) spoil(inner)
  for (const key of Object.keys(value)) Reflect.set(value, key, 'spoilt')
  if (Array.isArray(value)) Reflect.set(value, 'length', 0)
}
