import { expect, test } from 'vitest'
import { violationsIn } from '../../src/schema/text.ts'

test('the violations of a list end with the hundredth, and nothing behind it is checked', () => {
  let checked = 0
  const violations = violationsIn(new Array(100_000).fill(''), (_, index) => {
    checked += 1
    return { pointer: `/${index}`, code: 'required', message: 'must not be empty' }
  })

  expect([violations.length, violations.at(-1)?.pointer, checked]).toEqual([100, '/99', 100])
})
