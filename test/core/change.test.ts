import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { aForge, codeOf, olga } from './a-forge.ts'

const mia = { organizationId: 5, account: { kind: 'user', id: '9' } } as const
const will = { organizationId: 5, userId: 'will' } as const

test('a block asks the policy and the membership again when a member was reported in between', async () => {
  const asked: string[] = []
  const forge = aForge({
    policy: {
      authorize() {
        asked.push('policy')
        return { allow: true }
      },
    },
    membership: {
      async isMember() {
        asked.push('membership')
        if (asked.length === 2) await forge.lifecycle.memberAdded(will)
        return false
      },
    },
  })
  await forge.blocks.block(olga, mia)

  expect(asked).toEqual(['policy', 'membership', 'policy', 'membership'])
})

test('a user who becomes a member while being blocked is not blocked', async () => {
  const members = new Set<string>()
  const forge = aForge({
    membership: {
      async isMember({ userId }) {
        const wasMember = members.has(userId)
        members.add(userId)
        if (!wasMember) await forge.lifecycle.memberAdded({ organizationId: 5, userId })
        return wasMember
      },
    },
  })

  expect(await codeOf(() => forge.blocks.block(olga, mia))).toBe('CANNOT_BLOCK_MEMBER')
  expect(await forge.blocks.isBlocked({ organizationId: 5, userId: '9' })).toBe(false)
})

test('a block is refused as busy when members are reported at every attempt', async () => {
  let asked = 0
  const forge = aForge({
    membership: {
      async isMember() {
        asked += 1
        await forge.lifecycle.memberAdded(will)
        return false
      },
    },
  })

  await expect(forge.blocks.block(olga, mia)).rejects.toMatchObject({
    code: 'STORAGE_BUSY',
    details: { retry: 'call' },
  })
  expect(asked).toBe(20)
})

test('a member who is reported disturbs no other change, and no block of another organization', async () => {
  let asked = 0
  const forge = aForge({
    policy: {
      async authorize() {
        asked += 1
        await forge.lifecycle.memberAdded({ organizationId: 6, userId: 'will' })
        return { allow: true }
      },
    },
  })
  await forge.pins.pin(olga, { id: 7, repositoryId: 10, kind: 'issue' })
  await forge.blocks.block(olga, mia)
  await forge.blocks.unblock(olga, mia)

  expect(asked).toBe(3)
})

test('only a block reads an epoch', async () => {
  const storage = memoryStorage()
  const epoch: ForgeStorage<undefined>['blocks']['epoch'] = () => {
    throw new Error('the epoch was read')
  }
  const forge = aForge({ storage: { ...storage, blocks: { ...storage.blocks, epoch } } })
  const owl = { slug: 'owl' }
  await forge.pins.pin(olga, { id: 7, repositoryId: 10, kind: 'issue' })
  await forge.badges.catalogue.define(olga, owl)
  await forge.badges.grant(olga, { userId: 9, slugs: ['owl'] })
  await forge.lifecycle.memberAdded(will)

  expect(await codeOf(() => forge.blocks.unblock(olga, mia))).toBe('NOT_BLOCKED')
  await expect(forge.blocks.block(olga, mia)).rejects.toThrow('the epoch was read')
})
