// A guest does not shout in the house: whatever library code writes to the console fails the test it happened in.
// Recorded and told after the test, because a throw from inside console.* may be caught by the code under test.
// A test that expects output puts its own spy in place of ours.
import { afterEach, beforeEach } from 'vitest'

const METHODS = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const
const originals = METHODS.map((method) => [method, console[method]] as const)
const heard: string[] = []

beforeEach(() => {
  heard.length = 0
  for (const method of METHODS) {
    console[method] = (...values: unknown[]) => {
      heard.push(`console.${method}(${values.map(String).join(', ')})`)
    }
  }
})

afterEach(() => {
  for (const [method, original] of originals) console[method] = original

  if (heard.length > 0) throw new Error(`this test wrote to the console:\n${heard.join('\n')}`)
})
