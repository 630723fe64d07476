import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { AggregateStore, Change, ForgeStorage, PinRow } from '../../src/storage/storage.ts'
import type { Person } from './a-forge.ts'
import { aForge, olga } from './a-forge.ts'

const ISSUE = { id: '7', repositoryId: '10', kind: 'issue' } as const

test('a change reports to the storage how long the storage has taken before', async () => {
  const storage = memoryStorage()
  const spent: (number | undefined)[] = []
  const pinBoards: typeof storage.pinBoards = {
    ...storage.pinBoards,
    epoch: async (key) => {
      await pause(60)
      return storage.pinBoards.epoch(key)
    },
    update: async <Result, Prepared>(
      key: Parameters<typeof storage.pinBoards.update>[0],
      change: Change<readonly PinRow[], Result, undefined, Prepared>,
    ) => {
      spent.push(change.spentMilliseconds)
      if (spent.length === 1) {
        await pause(60)
        return { stale: true }
      }
      return storage.pinBoards.update(key, change)
    },
  }
  const policy = {
    authorize: async () => {
      await pause(300)
      return { allow: true } as const
    },
  }

  await aForge({ storage: { ...storage, pinBoards }, policy }).pins.pin(olga, ISSUE)

  const [first = 0, second = 0] = spent
  expect(spent).toHaveLength(2)
  expect(first).toBeGreaterThan(50) // the epoch
  expect(second).toBeGreaterThan(first + 100) // and the stale change, and the epoch again
  expect(second).toBeLessThan(first + 600) // but not the policy, asked twice
})

const account = { kind: 'user', id: '9' } as const
const catalogue = { slug: 'owl' } as const

/** Every change, and what must be there before it. */
const changes: readonly [name: string, act: Act, before: readonly Act[]][] = [
  ['pins.pin', (forge) => forge.pins.pin(olga, ISSUE), []],
  ['pins.unpin', (forge) => forge.pins.unpin(olga, ISSUE), [pinned]],
  ['pins.move', (forge) => forge.pins.move(olga, { issue: ISSUE, position: 1 }), [pinned]],
  ['blocks.block', (forge) => forge.blocks.block(olga, { organizationId: 5, account }), []],
  ['blocks.unblock', (forge) => forge.blocks.unblock(olga, { organizationId: 5, account }), [blocked]],
  ['badges.grant', (forge) => forge.badges.grant(olga, { userId: 9, slugs: ['owl'] }), [defined]],
  ['badges.revoke', (forge) => forge.badges.revoke(olga, { userId: 9, slugs: ['owl'] }), [defined]],
  ['catalogue.define', (forge) => forge.badges.catalogue.define(olga, catalogue), []],
  ['catalogue.update', (forge) => forge.badges.catalogue.update(olga, { ...catalogue, description: 'new' }), [defined]],
  ['catalogue.remove', (forge) => forge.badges.catalogue.remove(olga, 'owl'), [defined]],
]

type Act = (forge: Forge<Person, undefined>) => Promise<unknown>

function pinned(forge: Forge<Person, undefined>): Promise<unknown> {
  return forge.pins.pin('system', ISSUE)
}

function blocked(forge: Forge<Person, undefined>): Promise<unknown> {
  return forge.blocks.block('system', { organizationId: 5, account })
}

function defined(forge: Forge<Person, undefined>): Promise<unknown> {
  return forge.badges.catalogue.define('system', catalogue)
}

test.each(changes)('%s asks the policy again when a lifecycle call came in between', async (_name, act, before) => {
  const { storage, overtakeNext } = overtakenStorage()
  let asked = 0
  const authorize = () => {
    asked += 1
    return { allow: true } as const
  }
  const forge = aForge({ storage, policy: { authorize } })
  for (const prepare of before) await prepare(forge)
  overtakeNext()
  await act(forge)

  expect(asked).toBe(2)
})

/** A storage whose next epoch is older than the one that the change finds. */
function overtakenStorage(): { readonly storage: ForgeStorage<undefined>; overtakeNext(): void } {
  const storage = memoryStorage()
  let isOvertaken = false
  const epochs = <Key, State>(store: AggregateStore<Key, State, undefined>) => ({
    epoch: async (key: Key): Promise<number> => {
      const epoch = await store.epoch(key)
      const read = isOvertaken ? epoch - 1 : epoch
      isOvertaken = false
      return read
    },
  })
  return {
    storage: {
      ...storage,
      pinBoards: { ...storage.pinBoards, ...epochs(storage.pinBoards) },
      blocks: { ...storage.blocks, ...epochs(storage.blocks) },
      userBadges: { ...storage.userBadges, ...epochs(storage.userBadges) },
      badgeCatalogue: { ...storage.badgeCatalogue, ...epochs(storage.badgeCatalogue) },
      issueImports: { ...storage.issueImports, ...epochs(storage.issueImports) },
    },
    overtakeNext() {
      isOvertaken = true
    },
  }
}
