import { AssertionError } from 'node:assert'
import type { Actor } from '../../index.ts'
import type { ContractCase } from '../contract-case.ts'
import { trackerCases } from './tracker-cases.ts'
import type { TrackerCase, TrackerHost } from './tracker-host.ts'

/**
 * Returns the requirements for the tracker of a host, as plain cases for any test runner. Source: docs/exchange.md,
 * Writing a tracker. The error of a case that fails says how to fix it.
 *
 * @param open - opens a new host each time it is called; the case closes it
 */
export function trackerContract<A extends Actor, Tx>(open: () => Promise<TrackerHost<A, Tx>>): readonly ContractCase[] {
  if (typeof open !== 'function') throw new TypeError('trackerContract needs open, a function that returns a new host')

  return trackerCases.map((one) => ({ name: one.name, run: () => run(one, open) }))
}

async function run<A extends Actor, Tx>(one: TrackerCase, open: () => Promise<TrackerHost<A, Tx>>): Promise<void> {
  const host = await open()
  try {
    if (one.needs === 'comments' && host.tracker.comments === 'none') return
    if (one.needs !== undefined && host.tracker[one.needs] === undefined) return
    await one.check(host)
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error
    const { message, actual, expected, operator } = error
    throw new AssertionError({ message: `${message}\nfix:      ${one.fix}`, actual, expected, operator })
  } finally {
    await host.close()
  }
}
