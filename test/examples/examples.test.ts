// The examples import the package by its name, and so what is built in dist/.
import { describe, expect } from 'vitest'
import { dropWatchesCases } from './drop-watches-cases.ts'
import { sqliteDatabase } from './host-databases.ts'
import { byToken, mountCases } from './mount-cases.ts'
import { pinNewIssueCases } from './pin-new-issue-cases.ts'
import type { RunningExample } from './running-example.ts'
import { startExample, startModule } from './running-example.ts'

describe('examples/pin-new-issue-sqlite.mjs', () => pinNewIssueCases('pin-new-issue-sqlite.mjs', sqliteDatabase))
describe('examples/drop-watches-sqlite.mjs', () => dropWatchesCases('drop-watches-sqlite.mjs', sqliteDatabase))

describe.each([
  ['mount-node.mjs', 'a forge'],
  ['mount-hono.mjs', 'Hello stranger'],
  ['mount-fastify.mjs', 'a forge'],
])('examples/%s', (name, home) => mountCases({ start: () => startExample(name, {}), signIn: byToken, home }))

describe.each([
  ['mount-next.mjs', undefined],
  ['mount-worker.mjs', 'a forge'],
])('examples/%s', (name, home) => mountCases({ start: () => startModule(name), signIn: byToken, home }))

describe('examples/mount-express.mjs', () =>
  mountCases({ start: () => startExample('mount-express.mjs', {}), signIn: bySession, home: 'Hello stranger' }))

async function bySession({ url }: RunningExample): Promise<Readonly<Record<string, string>>> {
  const body = new URLSearchParams({ login: 'olga' })
  const { headers } = await fetch(new URL('/login', url), { method: 'POST', body })
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
  expect(cookie).toMatch(/^session=/)
  return { cookie }
}
