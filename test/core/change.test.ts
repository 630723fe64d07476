import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { Change, PinRow } from '../../src/storage/storage.ts'
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
    update: async <Result>(
      key: Parameters<typeof storage.pinBoards.update>[0],
      change: Change<readonly PinRow[], Result, undefined>,
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
