import { expect, test } from 'vitest'
import { checkEach } from '../../src/schema/text.ts'

test('the violations of a list end with the hundredth, and nothing behind it is checked', () => {
  let checked = 0
  const code = 'required'
  const check = () =>
    checkEach(new Array(100_000).fill(''), (_, index) => {
      checked += 1
      return { pointer: `/${index}`, code, message: 'must not be empty' }
    })
  const violations = Array.from({ length: 100 }, (_, at) => ({ pointer: `/${at}`, code, message: 'must not be empty' }))

  expect(check).toThrow(expect.objectContaining({ message: '/0: must not be empty', details: { violations } }))
  expect(checked).toBe(100)
})
