// A library does not write to the console of its host: what it writes fails the test in which it happens.
// Recorded, and reported after the test, because a throw from inside console.* may be caught by the code under test.
// A test that expects output puts its own spy in place of this one.
import { afterEach, beforeEach } from 'vitest'

const METHODS = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const
const originals = METHODS.map((method) => [method, console[method]] as const)
const received: string[] = []

beforeEach(() => {
  received.length = 0
  for (const method of METHODS) {
    console[method] = (...values: unknown[]) => {
      received.push(`console.${method}(${values.map(String).join(', ')})`)
    }
  }
})

afterEach(() => {
  for (const [method, original] of originals) console[method] = original

  if (received.length > 0) throw new Error(`this test wrote to the console:\n${received.join('\n')}`)
})
