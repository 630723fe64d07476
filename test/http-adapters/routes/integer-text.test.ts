import { expect, it } from 'vitest'
import { parseInteger } from '../../../src/http-adapters/routes/inputs.ts'

it.each([
  ['0', 0],
  ['7', 7],
  ['+7', 7],
  ['007', 7],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9223372036854775807', 2 ** 63],
  ['9223372036854775808', Number.POSITIVE_INFINITY],
  ['1'.repeat(1000), Number.POSITIVE_INFINITY],
  [`${'0'.repeat(1000)}7`, 7],
  ['', undefined],
  ['-7', undefined],
  ['++7', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['0x1', undefined],
  ['1_000', undefined],
  [' 7', undefined],
  ['7\n', undefined],
  ['٧', undefined],
])('parseInteger reads %j as %j', (text, expected) => {
  expect(parseInteger(text)).toBe(expected)
})
