import { describe, expect, test } from 'vitest'
import type { Decision } from '../../../src/index.ts'
import { defineBadge, grantBadges, isForgeError, removeBadge, revokeBadges, updateBadge } from '../../../src/index.ts'

type Answer = { readonly state: unknown; readonly says: readonly string[] } | { readonly refused: unknown }

function decide(rule: () => Decision<object, unknown>): Answer {
  try {
    const { state, events } = rule()
    return { state, says: events.map(({ type, data }) => `${type} ${Object.values(data).join()}`) }
  } catch (error) {
    if (isForgeError(error, 'INVALID_INPUT')) return { refused: error.details.violations.map(({ pointer }) => pointer) }
    if (isForgeError(error)) return { refused: [error.code, error.details] }
    throw error
  }
}

const known = ['owl', 'Owl', 'star']
const unknown = { refused: ['UNKNOWN_BADGE', { slugs: ['sun', 'owl '] }] }

describe('badges of a user', () => {
  test.each<[rule: typeof grantBadges, held: readonly string[], slugs: readonly string[], Answer | 'the same']>([
    [grantBadges, ['star'], ['owl', 'Owl', 'owl'], granted(['star', 'owl', 'Owl'], 'owl', 'Owl')],
    [grantBadges, ['star'], ['star', 'owl'], granted(['star', 'owl'], 'owl')],
    [grantBadges, ['star'], ['star', 'star'], 'the same'],
    [grantBadges, [], ['owl', 'sun', 'owl ', 'sun'], unknown],
    [revokeBadges, ['star', 'owl'], ['star', 'star', 'Owl'], revoked(['owl'], 'star')],
    [revokeBadges, ['star'], ['owl'], 'the same'],
    [revokeBadges, ['star'], [], 'the same'],
    [revokeBadges, ['star'], ['star', 'sun', 'owl '], unknown],
  ])('%o of %j with %j', (rule, held, slugs, answer) => {
    const before = { known, held }
    const answered = decide(() => rule(before, slugs))

    if (answer !== 'the same') expect(answered).toEqual(answer)
    else expect([answered, rule(before, slugs).state === before]).toEqual([{ state: before, says: [] }, true])
  })

  test('are not named without end in a refusal, whose details have them all', () => {
    const refusal = (count: number) => {
      const slugs = Array.from({ length: count }, (_, index) => `${index}-${'x'.repeat(1000)}`)
      try {
        grantBadges({ known, held: [] }, slugs)
        throw new Error('nothing was refused')
      } catch (error) {
        if (!isForgeError(error, 'UNKNOWN_BADGE')) throw error
        expect(error.details.slugs).toEqual(slugs)
        return error.message
      }
    }
    const named = (count: number) =>
      Array.from({ length: count }, (_, at) => `"${`${at}-`.padEnd(255, 'x')}"`).join(', ')

    expect(refusal(100)).toBe(`no such badge: ${named(100)}`)
    expect(refusal(5000)).toBe(`no such badge: ${named(100)}, and 4900 more`)
  })
})

const badge = { id: '7', slug: 'owl', description: 'Up late', imageUrl: '' }
const free = { badge: undefined, holders: 0, nextId: '8' }
const taken = { badge, holders: 0, nextId: '8' }
const definition = { slug: 'owl', description: '', imageUrl: '' }

describe('a badge of the catalogue', () => {
  test.each<[what: string, rule: () => Decision<object, unknown>, Answer]>([
    ['is defined', () => defineBadge(free, definition), defined({ id: '8', ...definition }, 'badge.defined owl')],
    ['is there', () => defineBadge(taken, definition), { refused: ['BADGE_EXISTS', { slug: 'owl' }] }],
    ['has no slug', () => defineBadge(free, { ...definition, slug: '' }), { refused: ['/slug'] }],
    ['has a long slug', () => defineBadge(free, { ...definition, slug: 'x'.repeat(256) }), { refused: ['/slug'] }],
    [
      'has a long description',
      () => defineBadge(free, { ...definition, description: 'x'.repeat(4001) }),
      { refused: ['/description'] },
    ],
    [
      'has a long image address',
      () => defineBadge(free, { ...definition, imageUrl: 'x'.repeat(2049) }),
      { refused: ['/imageUrl'] },
    ],
    [
      'is changed',
      () => updateBadge(taken, 'owl', { imageUrl: '/owl.png' }),
      defined({ ...badge, imageUrl: '/owl.png' }, 'badge.updated owl'),
    ],
    [
      'would be changed to a long description',
      () => updateBadge(taken, 'owl', { description: 'x'.repeat(4001) }),
      { refused: ['/description'] },
    ],
    ['is the same', () => updateBadge(taken, 'owl', { description: 'Up late' }), defined(badge)],
    ['is not there', () => updateBadge(free, 'owl', {}), { refused: ['BADGE_NOT_FOUND', { slug: 'owl' }] }],
    ['is removed', () => removeBadge(taken, 'owl'), { state: free, says: ['badge.removed owl'] }],
    ['is removed before', () => removeBadge(free, 'owl'), { refused: ['BADGE_NOT_FOUND', { slug: 'owl' }] }],
  ])('%s', (_what, rule, answer) => {
    expect(decide(rule)).toEqual(answer)
  })

  test.each([
    [1, 'is held by 1 user'],
    [2, 'is held by 2 users'],
  ])('that %i hold cannot be removed', (holders, message) => {
    const remove = () => removeBadge({ ...taken, holders }, 'owl')

    expect(remove).toThrow(message)
    expect(decide(remove)).toEqual({ refused: ['BADGE_IN_USE', { slug: 'owl', holders }] })
  })
})

function granted(held: readonly string[], ...slugs: readonly string[]): Answer {
  return { state: { known, held }, says: slugs.map((slug) => `badge.granted ${slug}`) }
}

function revoked(held: readonly string[], ...slugs: readonly string[]): Answer {
  return { state: { known, held }, says: slugs.map((slug) => `badge.revoked ${slug}`) }
}

function defined(badge: object, ...says: readonly string[]): Answer {
  return { state: { ...free, badge }, says }
}
