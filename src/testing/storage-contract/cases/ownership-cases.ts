import assert from 'node:assert/strict'
import type { ForgeStorage, PinRow } from '../../../storage/storage.ts'
import { everything, fill } from './aggregates.ts'
import { outbox } from './contents.ts'
import { BOARD, change, define, NO_SUBJECT, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

const BLOCK = { organizationId: '20', userId: '30' }
const QUIET = { events: [], result: undefined } as const
const CASE = { userId: '30', slugs: ['a', 'b'] }

type Answer = <Tx>(storage: ForgeStorage<Tx>) => unknown

const ANSWERS: Readonly<Record<string, Answer>> = {
  'a board': (storage) => storage.pinBoards.load(BOARD),
  'a block': (storage) => storage.blocks.find(BLOCK),
  'a page of blocks': (storage) => storage.blocks.page('20', { from: { page: 1 }, limit: 30 }),
  'a set of blocked users': (storage) => storage.blocks.among('20', ['30', '31']),
  'a list of grants': (storage) => storage.userBadges.heldBy('30'),
  'a badge': (storage) => storage.badgeCatalogue.find('a'),
  'a page of badges': (storage) => storage.badgeCatalogue.page({ from: { page: 1 }, limit: 30 }),
  'a read of the outbox': (storage) => storage.events.read({ after: undefined, limit: 100 }),
  'a page of the audit view': (storage) => storage.events.list({}, { from: { page: 1 }, limit: 30 }),
  'a history': (storage) => storage.events.history('1'),
}

/**
 * Cases about ownership: the caller owns the values that it passes or receives. A change to them does not change the
 * stored data.
 */
export const ownershipCases: readonly StorageCase[] = [
  storageCase('modifying what was returned changes nothing stored', async (storage) => {
    await fill(storage)
    const before = structuredClone(await everything(storage))
    for (const [name, ask] of Object.entries(ANSWERS)) {
      spoil(await ask(storage))
      assert.deepEqual(await everything(storage), before, name)
    }
  }),

  storageCase('modifying the events and the result of a change changes nothing stored', async (storage) => {
    const at = new Date(1000)
    const outcome = await change(
      storage.pinBoards,
      BOARD,
      (rows) => ({ state: [...rows, row('1')], events: [pinned('1')], result: rows }),
      { by: { actorId: '7', at: () => at } },
    )
    const before = structuredClone(await everything(storage))
    spoil(outcome)
    spoil(at)

    assert.deepEqual(await everything(storage), before)
  }),

  storageCase('modifying what a decision returned changes nothing stored', async (storage) => {
    const state = [row('1'), row('2')]
    const events = [pinned('1'), pinned('2')]
    await change(storage.pinBoards, BOARD, () => ({ state, events, result: undefined }))
    const data = { note: 'why' }
    const kept = { ...BLOCK, note: 'why', blockedAt: new Date(5), blockedBy: null }
    await change(storage.blocks, BLOCK, (before) => ({
      state: { ...before, block: kept },
      events: [{ ...NO_SUBJECT, type: 'user.blocked', data, ...BLOCK }],
      result: undefined,
    }))
    const badge = { id: await nextBadgeId(storage), slug: 'a', description: 'mine', imageUrl: '' }
    await change(storage.badgeCatalogue, { slug: 'a' }, (entry) => ({ state: { ...entry, badge }, ...QUIET }))
    const held = [{ badge, grantedAt: new Date(6), grantedBy: '7' }]
    await change(storage.userBadges, CASE, ({ known }) => ({ state: { known, held }, ...QUIET }))
    const before = structuredClone(await everything(storage))
    const blockBefore = structuredClone(await storage.blocks.find(BLOCK))
    for (const handedIn of [state, events, data, kept, held, badge]) spoil(handedIn)

    assert.deepEqual(await everything(storage), before)
    assert.deepEqual(await storage.blocks.find(BLOCK), blockBefore)
  }),

  storageCase('modifying the state that a decision received changes nothing stored', async (storage) => {
    await fill(storage)
    const before = structuredClone(await everything(storage))
    const leave = <State>(state: State) => {
      spoil(state)
      return { state, ...QUIET }
    }
    await change(storage.pinBoards, BOARD, leave)
    await change(storage.blocks, BLOCK, leave)
    await change(storage.userBadges, CASE, leave)
    await change(storage.badgeCatalogue, { slug: 'a' }, leave)

    assert.deepEqual(await everything(storage), before)
  }),

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

  storageCase('modifying a key after the call changes nothing', async (storage) => {
    for (const slug of ['a', 'b']) await define(storage, slug)
    const [board, badges] = [{ ...BOARD }, { userId: '30', slugs: ['a'] }]
    const pending = change(storage.pinBoards, board, () => ({ state: [row('1')], ...QUIET }))
    const asked = change(storage.userBadges, badges, (state) => ({ ...QUIET, state, result: state.known }))
    board.repositoryId = '99'
    badges.slugs.splice(0, 1, 'b')
    await pending
    const known = (await asked).result

    assert.deepEqual(
      known.map((badge) => badge.slug),
      ['a'],
    )
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

async function nextBadgeId<Tx>(storage: ForgeStorage<Tx>): Promise<string> {
  const outcome = await change(storage.badgeCatalogue, { slug: 'a' }, (entry) => ({
    state: entry,
    events: [],
    result: entry.nextId,
  }))
  return outcome.result
}

function row(issueId: string): { issueId: string; pinnedAt: Date; pinnedBy: string | null } {
  return { issueId, pinnedAt: new Date(1), pinnedBy: '7' }
}

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
