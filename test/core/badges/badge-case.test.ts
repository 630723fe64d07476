import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Decision, UserBadges } from '../../../src/index.ts'
import { grantBadges, isForgeError, revokeBadges } from '../../../src/index.ts'

const badges: UserBadges = { known: ['owl', 'star', 'moon'], held: ['owl'] }

function outcome(rule: () => Decision<UserBadges, void>): unknown {
  try {
    const { state, events } = rule()
    return [state.held, events.map(({ type, data }) => `${type} ${Object.values(data)}`)]
  } catch (error) {
    if (isForgeError(error, 'UNKNOWN_BADGE')) return error.details.slugs
    throw error
  }
}

describe('granting', () => {
  test.each([
    [
      'adds each slug once',
      ['star', 'moon', 'star'],
      [
        ['owl', 'star', 'moon'],
        ['badge.granted star', 'badge.granted moon'],
      ],
    ],
    ['passes over what is held', ['owl'], [['owl'], []]],
    ['does nothing for an empty list', [], [['owl'], []]],
    ['names every unknown slug and adds nothing', ['star', 'sun', '', 'sun'], ['sun', '']],
    ['compares slugs exactly', ['Owl'], ['Owl']],
  ])('%s', (_fact, slugs, expected) => {
    expect(outcome(() => grantBadges(badges, slugs))).toEqual(expected)
  })
})

describe('revoking', () => {
  test.each([
    ['takes what is held', ['owl', 'owl'], [[], ['badge.revoked owl']]],
    ['passes over what is not held', ['star'], [['owl'], []]],
    ['names every unknown slug and removes nothing', ['owl', 'sun'], ['sun']],
  ])('%s', (_fact, slugs, expected) => {
    expect(outcome(() => revokeBadges(badges, slugs))).toEqual(expected)
  })
})

test('a refusal of very many slugs stays short, and its details have them all', () => {
  const slugs = Array.from({ length: 5000 }, (_, index) => `${index}-${'x'.repeat(1000)}`)
  try {
    grantBadges(badges, slugs)
    expect.unreachable()
  } catch (error) {
    if (!isForgeError(error, 'UNKNOWN_BADGE')) throw error
    expect(error.message.length).toBeLessThan(30_000)
    expect(error.message).toContain('and 4900 more')
    expect(error.details.slugs).toEqual(slugs)
  }
})

test('granting and then revoking the same slugs leaves only what was held besides', () => {
  const slug = fc.constantFrom('owl', 'star', 'moon')
  fc.assert(
    fc.property(fc.uniqueArray(slug), fc.array(slug), (held, slugs) => {
      const granted = grantBadges({ known: badges.known, held }, slugs)
      const revoked = revokeBadges(granted.state, slugs)
      expect([...revoked.state.held].sort()).toEqual(held.filter((one) => !slugs.includes(one)).sort())
    }),
  )
})
