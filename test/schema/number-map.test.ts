import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberMap } from '../../src/schema/number-map.ts'
import { NumberSet } from '../../src/schema/number-set.ts'

const number = fc.oneof(
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 0, max: 2 ** 31 }),
  fc.maxSafeInteger().map(Math.abs),
)

test('a number map is a map, and a number set a set', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(number, fc.double()), { maxLength: 400 }), fc.array(number), (entries, asked) => {
      const [map, set, model] = [new NumberMap(), new NumberSet(), new Map<number, number>()]
      for (const [each, value] of entries) {
        map.set(each, value)
        set.add(each)
        model.set(each, value)
      }
      for (const each of [...model.keys(), ...asked]) {
        expect([map.get(each), set.has(each)]).toEqual([model.get(each), model.has(each)])
      }
    }),
  )
})
