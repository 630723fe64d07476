import { beforeAll, describe, test } from 'vitest'
import type { KnownHost } from '../../app/testing/testing.ts'
import { mountContract } from '../../app/testing/testing.ts'
import type { RunningExample } from './running-example.ts'
import { startExample, startModule } from './running-example.ts'

// Every example of a mount. That of Express knows its users by a session, which the contract does not have.

/** What the hosts around examples/small-forge.mjs have. */
const SMALL_FORGE = {
  services: ['pins', 'blocks', 'badges', 'signing-keys'],
  organization: 'acme',
  users: ['mia', 'noor'],
  repository: 'acme/rocket',
} as const satisfies KnownHost
const BY_TOKEN = { ...SMALL_FORGE, authorization: 'Bearer olga-token' }
const home = (text: string): KnownHost => ({ elsewhere: [{ path: '/', text }] })

describe.each([
  ['mount-node.mjs', () => startExample('mount-node.mjs'), { ...BY_TOKEN, ...home('a forge') }],
  ['mount-fastify.mjs', () => startExample('mount-fastify.mjs'), { ...BY_TOKEN, ...home('a forge') }],
  ['mount-hono.mjs', () => startExample('mount-hono.mjs'), { ...BY_TOKEN, ...home('Hello stranger') }],
  ['mount-next.mjs', () => startModule('mount-next.mjs'), BY_TOKEN],
  ['mount-worker.mjs', () => startModule('mount-worker.mjs'), { ...BY_TOKEN, ...home('a forge') }],
  ['mount-express.mjs', () => startExample('mount-express.mjs'), { ...SMALL_FORGE, ...home('Hello stranger') }],
] as const)('the mount contract over examples/%s', (_name, start, known) => {
  let example: RunningExample

  beforeAll(async () => {
    example = await start()
    return async () => void (await example.stop())
  })

  const mounted = async () => ({ origin: new URL(example.url).origin, prefix: '/api/v1', stop: async () => undefined })
  for (const { name, run } of mountContract(mounted, known)) test(name, run)
})
