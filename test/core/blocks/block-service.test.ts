import { describe, expect, test } from 'vitest'
import type { AccountRef } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import { aForge, codeOf, olga } from '../a-forge.ts'

const user = (id: string) => ({ kind: 'user', id }) as const
const target = (userId: string, note?: string) => ({ organizationId: '5', account: user(userId), note })

// What is refused in which order, and what each block changes: test/model.

describe('the block service', () => {
  test('asks no membership about a block by a user, who cannot block themselves through others either', async () => {
    const asked: unknown[] = []
    const { blocks } = aForge({ membership: { isMember: (member) => asked.push(member) > 0 } })
    await blocks.block(olga, { blockerId: 1, account: user('9') })
    for (const caller of [olga, 'system'] as const) {
      expect(await codeOf(() => blocks.block(caller, { blockerId: 1, account: user('1') }))).toBe('CANNOT_BLOCK_SELF')
    }
    expect(asked).toEqual([])
  })

  test('says whether an organization or a user blocks, and the guard says who', async () => {
    const { blocks } = aForge()
    await blocks.block('system', target('9'))
    await blocks.block('system', { blockerId: 3, account: user('9') })
    await blocks.block('system', { blockerId: 3, account: user('8') })
    const cases = [
      [
        { organizationId: 5, blockerId: 3, userId: 9 },
        { organizationId: '5', blockerId: '3' },
      ],
      [{ organizationId: 5, blockerId: 3, userId: 8 }, { blockerId: '3' }],
      [{ organizationId: 5, blockerId: 4, userId: 9 }, { organizationId: '5' }],
      [{ organizationId: 6, blockerId: 4, userId: 9 }, undefined],
      [{ organizationId: 5, userId: 9 }, { organizationId: '5' }],
      [{ organizationId: 5, userId: 8 }, undefined],
      [{ organizationId: null, blockerId: 3n, userId: 8 }, { blockerId: '3' }],
      [{ organizationId: 3, blockerId: null, userId: 8 }, undefined],
    ] as const
    for (const [asked, details] of cases) {
      expect(await blocks.isBlocked(asked)).toBe(details !== undefined)
      expect(await blocks.filterBlocked({ ...asked, userIds: [asked.userId] })).toEqual(
        new Set(details === undefined ? [] : [asked.userId]),
      )
      const guarded = blocks.refuseBlocked(asked)
      if (details === undefined) expect(await guarded).toBeUndefined()
      else await expect(guarded).rejects.toMatchObject({ code: 'BLOCKED', message: 'user is blocked', details })
    }
  })

  test.each([
    ['isBlocked', 'target must have an organizationId or a blockerId'],
    ['refuseBlocked', 'target must have an organizationId or a blockerId'],
    ['filterBlocked', 'candidates must have an organizationId or a blockerId'],
  ] as const)('%s without anyone who may block is a TypeError', async (method, message) => {
    const { blocks } = aForge()
    const asked = { userId: 9, userIds: [9], organizationId: null, blockerId: undefined }
    await expect(blocks[method](asked)).rejects.toThrow(new TypeError(message))
  })

  test('refuses two who block', async () => {
    const { blocks } = aForge()
    const both = { organizationId: 5, blockerId: 3, account: user('9'), userId: 9 }
    for (const name of ['block', 'unblock', 'find', 'list'] as const) {
      await expect(Reflect.apply(blocks[name], blocks, [olga, both])).rejects.toThrow('or a blockerId, not both')
    }
  })

  // The policy is asked once, and not about 'system' or a request over HTTP, which the routes have checked.
  test.each([
    [olga, ['policy', 'membership', 'membership']],
    ['system', ['membership', 'membership']],
  ] as const)('asks the membership again when a user becomes a member in between, by %j', async (caller, expected) => {
    const asked: string[] = []
    const forge = aForge({
      policy: {
        authorize() {
          asked.push('policy')
          return { allow: true }
        },
      },
      membership: {
        async isMember(member) {
          asked.push('membership')
          if (asked.length === expected.length) return true
          await forge.lifecycle.memberAdded(member)
          return false
        },
      },
    })
    expect(await codeOf(() => forge.blocks.block(caller, target('9')))).toBe('CANNOT_BLOCK_MEMBER')
    expect(asked).toEqual(expected)
    expect(await forge.blocks.isBlocked({ organizationId: 5, userId: '9' })).toBe(false)
  })

  test('gives up as busy after twenty attempts when lifecycle calls never stop coming in between', async () => {
    let asked = 0
    const forge = aForge({
      membership: {
        async isMember(member) {
          asked += 1
          await forge.lifecycle.memberAdded({ ...member, userId: '77' })
          return false
        },
      },
    })
    await expect(forge.blocks.block(olga, target('9'))).rejects.toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'call' },
    })
    expect(asked).toBe(20)
  })

  test.each([{ page: 0 }, { after: 'x' }])('refuses the page request %j', async (page) => {
    expect(await codeOf(() => aForge().blocks.list(olga, { organizationId: 5, ...page }))).toBe('INVALID_INPUT')
  })

  test('returns blocked users by the ids that were given: numbers, bigints or texts', async () => {
    const forge = aForge()
    await forge.blocks.block(olga, target('9'))
    const userIds = [9, 9n, '9', 8, 8n, '8', 9] as const

    expect(await forge.blocks.filterBlocked({ organizationId: 5, userIds })).toEqual(new Set([9, 9n, '9']))
  })

  test('refuses an invalid account kind, and a membership that is neither true nor false', async () => {
    const account = { kind: 'Organization', id: 9 } as unknown as AccountRef
    await expect(aForge().blocks.block(olga, { organizationId: 5, account })).rejects.toThrow(TypeError)
    const forge = aForge({ membership: { isMember: () => undefined as unknown as boolean } })
    await expect(forge.blocks.block(olga, target('9'))).rejects.toThrow(TypeError)
    expect(await forge.blocks.isBlocked({ organizationId: 5, userId: 9 })).toBe(false)
  })
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
  await forge.blocks.block(olga, target('9'))
  await forge.blocks.unblock(olga, target('9'))

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
  await forge.lifecycle.memberAdded({ organizationId: 5, userId: 'will' })

  expect(await codeOf(() => forge.blocks.unblock(olga, target('9')))).toBe('NOT_BLOCKED')
  await expect(forge.blocks.block(olga, target('9'))).rejects.toThrow('the epoch was read')
})
