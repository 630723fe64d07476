import { describe, expect, test } from 'vitest'
import type { AccountRef, Forge } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import type { Person } from '../a-forge.ts'
import { aForge, codeOf, olga } from '../a-forge.ts'

const user = (id: string) => ({ kind: 'user', id }) as const
const target = (userId: string, note?: string) => ({ organizationId: '5', account: user(userId), note })

/** Organization 5 and user 3 block user 9, and organization 5 also blocks mia, who is a member now, as olga is. User 8 and organization 6 are deleted. */
async function blockingForge(): Promise<Forge<Person, undefined>> {
  const members = new Set(['1'])
  const forge = aForge({ membership: { isMember: ({ userId }) => members.has(userId) } })
  for (const userId of ['9', '2']) await forge.blocks.block(olga, target(userId))
  await forge.blocks.block('system', { blockerId: 3, account: user('9') })
  members.add('2')
  await forge.lifecycle.userDeleted(8)
  await forge.lifecycle.organizationDeleted(6)
  return forge
}

describe('a block', () => {
  const organization = { kind: 'organization', id: '1' } as const
  test.each<[code: string, method: 'block' | 'unblock' | 'list', what: string, input: object]>([
    ['INVALID_INPUT', 'block', 'a long note', { organizationId: 5, account: organization, note: '🦉'.repeat(256) }],
    ['CANNOT_BLOCK_ORGANIZATION', 'block', 'of the id of the caller', { organizationId: 5, account: organization }],
    ['CANNOT_BLOCK_SELF', 'block', 'the caller, a member', target('1')],
    ['CANNOT_BLOCK_SELF', 'block', 'who blocks', { blockerId: 3, account: user('3') }],
    ['USER_NOT_FOUND', 'block', 'deleted, by one who is', { organizationId: 6, account: user('8') }],
    ['USER_NOT_FOUND', 'block', 'by a deleted user', { blockerId: 8, account: user('9') }],
    ['ORGANIZATION_NOT_FOUND', 'block', 'by a deleted organization', { organizationId: 6, account: user('9') }],
    ['CANNOT_BLOCK_MEMBER', 'block', 'a member who is blocked', target('2')],
    ['ALREADY_BLOCKED', 'block', 'who is blocked', target('9')],
    ['ALREADY_BLOCKED', 'block', 'whom the user blocks', { blockerId: 3, account: user('9') }],
    ['CANNOT_BLOCK_ORGANIZATION', 'unblock', 'an organization', { organizationId: 5, account: organization }],
    ['USER_NOT_FOUND', 'unblock', 'a deleted user', target('8')],
    ['NOT_BLOCKED', 'unblock', 'whom another blocks', { blockerId: 5, account: user('9') }],
    ['NOT_BLOCKED', 'unblock', 'whom a user blocks', { organizationId: 3, account: user('9') }],
    ['ORGANIZATION_NOT_FOUND', 'list', 'of a deleted organization', { organizationId: 6 }],
    ['USER_NOT_FOUND', 'list', 'of a deleted user', { blockerId: 8 }],
    ['INVALID_INPUT', 'list', 'page 0 of what is deleted', { organizationId: 6, page: 0 }],
    ['INVALID_INPUT', 'list', 'behind no cursor', { organizationId: 5, after: 'x' }],
  ])('is refused as %s: %s, %s', async (code, method, _what, input) => {
    const { blocks, events } = await blockingForge()
    const before = await events.read()

    expect(await codeOf(() => Reflect.apply(blocks[method], undefined, [olga, input]))).toBe(code)
    expect(await events.read()).toEqual(before)
  })

  test('keeps its user from becoming a member', async () => {
    const { lifecycle } = await blockingForge()

    expect(await codeOf(() => lifecycle.memberAdded({ organizationId: 5, userId: 9 }))).toBe('ALREADY_BLOCKED')
    expect(await codeOf(() => lifecycle.memberAdded({ organizationId: 6, userId: 8 }))).toBe('USER_NOT_FOUND')
    expect(await codeOf(() => lifecycle.memberAdded({ organizationId: 3, userId: 9 }))).toBe('no error')
  })

  test('is found and listed with its note, and lifted, each with an event', async () => {
    const forge = aForge()
    const [at, byUser] = [new Date('2026-01-02T03:04:05Z'), { blockerId: 3, account: user('9') }]
    const first = { organizationId: '5', userId: '9', note: 'spam', blockedAt: at, blockedBy: '1' }
    const own = { blockerId: '3', userId: '9', note: '', blockedAt: at, blockedBy: null }
    expect(await forge.blocks.block(olga, target('9', 'spam'))).toEqual(first)
    expect(await forge.blocks.block('system', byUser)).toEqual(own)
    await forge.blocks.block(olga, target('8'))
    expect(await forge.blocks.find(olga, { organizationId: 5, userId: 9 })).toEqual(first)
    expect(await forge.blocks.list(olga, { blockerId: 3 })).toEqual({ items: [own], total: 1, limit: 30 })
    const page = await forge.blocks.list(olga, { organizationId: 5, limit: 1 })
    expect(page).toMatchObject({ items: [first], total: 2, limit: 1 })
    const next = await forge.blocks.list(olga, { organizationId: 5, limit: 1, after: page.cursor })
    expect([next.items.map(({ userId }) => userId), next.cursor]).toEqual([['8'], undefined])
    await forge.blocks.unblock('system', byUser)
    await forge.blocks.unblock(olga, target('9'))

    expect(await forge.blocks.find(olga, { organizationId: 5, userId: 9 })).toBeUndefined()
    expect((await forge.events.read()).events).toMatchObject([
      { type: 'user.blocked', data: { note: 'spam' }, organizationId: '5', userId: '9', actorId: '1' },
      { type: 'user.blocked', data: { note: '', blockerId: '3' }, organizationId: null, userId: '9', actorId: null },
      { type: 'user.blocked', data: { note: '' }, organizationId: '5', userId: '8' },
      { type: 'user.unblocked', data: { blockerId: '3' }, organizationId: null, userId: '9', actorId: null },
      { type: 'user.unblocked', data: {}, organizationId: '5', userId: '9', actorId: '1' },
    ])
  })

  test('goes with its user and with who blocks, once', async () => {
    const forge = await blockingForge()
    await forge.blocks.block('system', { blockerId: 9, account: user('4') })
    const { cursor: after } = await forge.events.read()
    for (const _ of ['once', 'twice']) {
      await forge.lifecycle.userDeleted(9)
      await forge.lifecycle.organizationDeleted(5)
    }

    expect((await forge.events.read({ after })).events).toMatchObject([
      { type: 'user.deleted', data: { blocks: 3, grants: 0 }, userId: '9', actorId: null },
      { type: 'organization.deleted', data: { blocks: 1 }, organizationId: '5', userId: null },
    ])
    expect(await forge.blocks.find('system', { organizationId: 5, userId: 2 })).toBeUndefined()
    expect((await forge.blocks.list('system', { blockerId: 3 })).items).toEqual([])
  })
})

describe('the block service', () => {
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
