import { describe, expect, test } from 'vitest'
import type { Block } from '../../../src/index.ts'
import { blockUser, refuseOrganization, refuseTarget, unblockUser } from '../../../src/index.ts'
import { codeOf } from '../a-forge.ts'

const block: Block = { organizationId: '1', userId: '2', note: 'spam', blockedAt: new Date(0), blockedBy: '3' }

const refusals: readonly [string, () => unknown, string][] = [
  [
    'an organization is refused',
    () => refuseTarget({ kind: 'organization', id: '9' }, '9'),
    'CANNOT_BLOCK_ORGANIZATION',
  ],
  ['the caller is refused', () => refuseTarget({ kind: 'user', id: '9' }, '9'), 'CANNOT_BLOCK_SELF'],
  ['a member is refused before a block that stands', () => blockUser(block, block, true), 'CANNOT_BLOCK_MEMBER'],
  ['a second block is refused', () => blockUser(block, block, false), 'ALREADY_BLOCKED'],
  [
    'unblocking an organization is refused',
    () => refuseOrganization({ kind: 'organization', id: '9' }),
    'CANNOT_BLOCK_ORGANIZATION',
  ],
  ['unblocking who is not blocked is refused', () => unblockUser(undefined), 'NOT_BLOCKED'],
]

describe('blocking', () => {
  test.each(refusals)('%s', async (_fact, rule, code) => {
    expect(await codeOf(rule)).toBe(code)
  })

  test('lets the host itself block anyone', () => {
    expect(() => refuseTarget({ kind: 'user', id: '9' }, null)).not.toThrow()
  })

  test('creates the block and returns its note', () => {
    expect(blockUser(undefined, block, false)).toEqual({
      state: block,
      events: [{ type: 'user.blocked', data: { note: 'spam' } }],
      result: block,
    })
  })

  test('lifts the block', () => {
    expect(unblockUser(block)).toEqual({
      state: undefined,
      events: [{ type: 'user.unblocked', data: {} }],
      result: undefined,
    })
  })
})
