import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { IdInput } from '../../src/schema/ids.ts'
import { toId } from '../../src/schema/ids.ts'

const ACCEPTED: readonly (readonly [value: IdInput, id: string])[] = [
  [7, '7'],
  [0, '0'],
  [-0, '0'],
  [-7, '-7'],
  [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  [7n, '7'],
  [-7n, '-7'],
  [2n ** 64n, '18446744073709551616'],
  [10n ** 63n, `1${'0'.repeat(63)}`],
  ['7', '7'],
  ['007', '007'],
  [' ', ' '],
  ['3f2504e0-4f89-41d3-9a0c-0305e82c3301', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
  ['3F2504E0-4F89-41D3-9A0C-0305E82C3301', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
  ['3F2504E0/4F89/41D3/9A0C/0305E82C3301', '3F2504E0/4F89/41D3/9A0C/0305E82C3301'],
  ['größe/日本', 'größe/日本'],
  ['🚀'.repeat(32), '🚀'.repeat(32)],
  ['x'.repeat(64), 'x'.repeat(64)],
]

const A_TEXT = 'issue.id must be an integer or a string of 1 to 64 characters'
const SAFE = 'issue.id must be a safe integer; pass larger ids as bigint or string'
const CLEAN = 'issue.id must not contain control characters or malformed Unicode'

// unknown: a host may be written in JavaScript
const REFUSED: readonly (readonly [title: string, value: unknown, message: string])[] = [
  ['a fraction', 1.5, SAFE],
  ['NaN', Number.NaN, SAFE],
  ['infinity', Number.POSITIVE_INFINITY, SAFE],
  ['2^53', 2 ** 53, SAFE],
  ['a bigint of 65 digits', 10n ** 64n, A_TEXT],
  ['an empty text', '', A_TEXT],
  ['a text of 65 characters', 'x'.repeat(65), A_TEXT],
  ['undefined', undefined, A_TEXT],
  ['null', null, A_TEXT],
  ['true', true, A_TEXT],
  ['an object', { toString: () => '7' }, A_TEXT],
  ['a text with a NUL', 'a\u0000b', CLEAN],
  ['a text with a line end', '7\n', CLEAN],
  ['a text with a C1 control character', '\u0085', CLEAN],
  ['half a character', '\ud83d', CLEAN],
]

describe('toId', () => {
  test.each(ACCEPTED)('makes of %s the id %s', (value, id) => {
    expect(toId(value, 'issue.id')).toBe(id)
  })

  test.each(REFUSED)('refuses %s, by the name it was given', (_, value, message) => {
    // the cast stands for a caller without types
    expect(() => toId(value as IdInput, 'issue.id')).toThrow(new TypeError(message))
  })

  test('makes the same id of an integer as number, bigint and text', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (integer) => {
        const id = toId(integer, 'id')
        expect(toId(BigInt(integer), 'id')).toBe(id)
        expect(toId(id, 'id')).toBe(id)
      }),
    )
  })
})
