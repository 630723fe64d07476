import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberSet } from '../../src/schema/number-set.ts'

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
