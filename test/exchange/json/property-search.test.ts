import { expect, test } from 'vitest'
import { PropertySearch } from '../../../src/exchange/json/property-search.ts'

test.each([
  ['{"number":7}', [7]],
  ['{"number":7,"number":8}', [7, 8]],
  ['{ "number" \t\r\n: \t\r\n7 }', [7]],
  ['{"number":7.5}', [7]],
  ['{"number":"7"}', []],
  ['{"number"', []],
  ['{"numbers":7,"a_number":8}', []],
  ['{"milestone":{"number":1},"number":7}', [7]],
  ['{"milestone" : {"number":1,"number":2},"number":7}', [7]],
  ['{"epic":{"number":1,"labels":[{"number":2}]}}', [2]],
  ['{"number":7,"labels":[{"number":8}]}', [7, 8]],
  ['{"title":"the number of it","number":7}', [7]],
])('the numbers of %s are %j', (text, numbers) => {
  const search = new PropertySearch('number')

  expect([...search.numbersIn(new TextEncoder().encode(text))]).toEqual(numbers)
})
