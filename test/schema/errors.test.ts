import { describe, expect, test } from 'vitest'
import { ForgeError, invalidInput, isForgeError, notFound } from '../../src/schema/errors.ts'

describe('a ForgeError', () => {
  test('carries its code, message, details and cause', () => {
    const cause = new Error('disk full')

    const error = new ForgeError('PIN_LIMIT_REACHED', 'three issues are pinned', { kind: 'issue', limit: 3 }, { cause })

    expect(error).toMatchObject({
      name: 'ForgeError',
      code: 'PIN_LIMIT_REACHED',
      message: 'three issues are pinned',
      details: { kind: 'issue', limit: 3 },
      cause,
    })
  })

  test('is an Error with a stack that begins with its name and message', () => {
    const error = new ForgeError('NOT_BLOCKED', 'not blocked')

    expect(error.details).toBeUndefined()
    expect(error.stack).toMatch(/^ForgeError: not blocked\n|^Error: not blocked\n/)
    expect(String(error)).toBe('ForgeError: not blocked')
  })
})

const error = new ForgeError('NOT_BLOCKED', 'not blocked')
// what another copy of the package makes: of another class, with the same brand
const stranger = Object.assign(new Error('not blocked'), { code: 'NOT_BLOCKED', [Symbol.for('forgelet.error')]: true })

const RECOGNISED: readonly (readonly [title: string, value: unknown, expected: boolean])[] = [
  ['its own error', error, true],
  ["another copy's error", stranger, true],
  ['another error with a code', Object.assign(new Error('not blocked'), { code: 'NOT_BLOCKED' }), false],
  ['a TypeError', new TypeError('misuse'), false],
  ['the code alone', 'NOT_BLOCKED', false],
  ['null', null, false],
  ['undefined', undefined, false],
]

describe('recognising forge errors', () => {
  test.each(RECOGNISED)('%s: %s', (_, value, expected) => {
    expect([value instanceof ForgeError, isForgeError(value), isForgeError(value, 'NOT_BLOCKED')]).toEqual([
      expected,
      expected,
      expected,
    ])
    expect(isForgeError(value, 'ALREADY_BLOCKED')).toBe(false)
  })
})

test.each(['user', 'organization', 'repository', 'issue'] as const)('a missing %s is a code of its own', (thing) => {
  expect(notFound(thing)).toMatchObject({ code: `${thing.toUpperCase()}_NOT_FOUND`, message: `${thing} not found` })
})

test('an invalid input names its place once in the violations and its text in the message', () => {
  expect(invalidInput('/position', 'range', 'position must be an integer, 1 or greater')).toMatchObject({
    code: 'INVALID_INPUT',
    message: 'position must be an integer, 1 or greater',
    details: {
      violations: [{ pointer: '/position', code: 'range', message: 'position must be an integer, 1 or greater' }],
    },
  })
})
