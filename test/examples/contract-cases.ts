import { afterAll, beforeAll, test } from 'vitest'
import type { KnownHost } from '../../src/testing/testing.ts'
import { mountContract } from '../../src/testing/testing.ts'
import type { RunningExample } from './running-example.ts'

/** What an example of mounting is to the mount contract. */
export interface ContractExample {
  start(): Promise<RunningExample>
  readonly known: KnownHost
  /** Whether the framework answers a malformed `%` itself (docs/mounting.md). */
  readonly refusesMalformed?: boolean
}

/** Runs the mount contract over an example that mounts the API below `/api/v1`. */
export function contractCases({ start, known, refusesMalformed = false }: ContractExample): void {
  let example: RunningExample

  beforeAll(async () => {
    example = await start()
  })
  afterAll(() => example.stop())

  const mounted = async () => ({
    origin: new URL(example.url).origin,
    prefix: '/api/v1',
    stop: async () => undefined,
  })
  for (const { name, run } of mountContract(mounted, known)) {
    if (!(refusesMalformed && name.startsWith('a path with a malformed %'))) test(name, run)
  }
}
