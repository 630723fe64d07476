import { expect, test } from 'vitest'
import { jsonPointer } from '../../../src/schema/documents/check.ts'

const CASES: readonly (readonly [path: readonly PropertyKey[], pointer: string])[] = [
  [[], ''],
  [[0], '/0'],
  [[17, 'created'], '/17/created'],
  [[17, 'labels', 2, 'name'], '/17/labels/2/name'],
  [[''], '/'],
  [['', ''], '//'],
  [['a/b'], '/a~1b'],
  [['m~n'], '/m~0n'],
  [['~1'], '/~01'],
  [['/~/'], '/~1~0~1'],
  [[' "\\^%|é'], '/ "\\^%|é'],
]

test.each(CASES)('the path %j is written %j', (path, pointer) => {
  expect(jsonPointer(path)).toBe(pointer)
})
