// The examples import the package by its name, and so what is built in dist/.
import { describe } from 'vitest'
import type { KnownHost } from '../../src/testing/testing.ts'
import { SQLITE } from '../databases.ts'
import { contractCases } from './contract-cases.ts'
import { dropWatchesContract } from './drop-watches-cases.ts'
import { hostDatabase } from './host-databases.ts'
import { startExample, startModule } from './running-example.ts'

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
  ['mount-node.mjs', { ...BY_TOKEN, ...home('a forge') }],
  ['mount-hono.mjs', { ...BY_TOKEN, ...home('Hello stranger') }],
  ['mount-express.mjs', { ...SMALL_FORGE, ...home('Hello stranger') }],
])('the mount contract over examples/%s', (name, known) =>
  contractCases({ start: () => startExample(name, {}), known }),
)

describe('the mount contract over examples/mount-fastify.mjs', () =>
  contractCases({
    start: () => startExample('mount-fastify.mjs', {}),
    known: { ...BY_TOKEN, ...home('a forge') },
    refusesMalformed: true,
  }))

describe.each([
  ['mount-next.mjs', BY_TOKEN],
  ['mount-worker.mjs', { ...BY_TOKEN, ...home('a forge') }],
])('the mount contract over examples/%s', (name, known) => contractCases({ start: () => startModule(name), known }))

describe('the mount contract over examples/drop-watches-sqlite.mjs', () =>
  dropWatchesContract('drop-watches-sqlite.mjs', () => hostDatabase(SQLITE)))
