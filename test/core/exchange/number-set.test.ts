import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberSet } from '../../../src/core/exchange/number-set.ts'

const number = fc.oneof(
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 0, max: 2 ** 31 }),
  fc.maxSafeInteger().map(Math.abs),
)

test('a number set is a set', () => {
  fc.assert(
    fc.property(fc.array(number, { maxLength: 400 }), fc.array(number), (added, asked) => {
      const [set, model] = [new NumberSet(), new Set<number>()]
      for (const each of added) {
        set.add(each)
        model.add(each)
      }
      for (const each of [...added, ...asked]) expect(set.has(each)).toBe(model.has(each))
    }),
  )
})

test.each([
  ['one after the other', (index: number) => index, 1],
  ['with gaps', (index: number) => index * 1000, 40],
  ['far apart', (index: number) => index * 2 ** 33, 40],
])('numbers %s need at most a few bytes each', (_, numberOf, bytes) => {
  const count = 200_000
  const set = new NumberSet()
  for (let index = 0; index < count; index += 1) set.add(numberOf(index))

  expect(set.bytes / count).toBeLessThanOrEqual(bytes)
  expect(set.has(numberOf(count - 1))).toBe(true)
  expect(set.has(numberOf(count))).toBe(false)
})

test('numbers that are chosen to collide take no longer than others', () => {
  const numbers = colliding(60_000)
  const from = performance.now()
  const set = new NumberSet()
  for (const number of numbers) set.add(number)

  expect(performance.now() - from).toBeLessThan(3000)
})

/** Returns numbers that had one slot if the multiplier of a word were the constant 0x9e3779b1. */
function colliding(count: number): readonly number[] {
  const [first, second] = [inverse(0x9e3779b1), inverse(0x2c1b3c6d)]
  return Array.from({ length: count }, (_, index) => {
    const high = index >>> 14
    const mixed = unshifted(Math.imul(unshifted(((index & 0x3fff) << 18) | 0, 13), second), 15)
    return (high * 2 ** 32 + (Math.imul(mixed ^ Math.imul(high + 1, 0x85ebca6b), first) >>> 0)) * 32 + 1
  })
}

function inverse(odd: number): number {
  let found = odd
  for (let round = 0; round < 5; round += 1) found = Math.imul(found, 2 - Math.imul(odd, found))
  return found
}

function unshifted(value: number, by: number): number {
  let found = value
  for (let round = 0; round < 3; round += 1) found = value ^ (found >>> by)
  return found
}
