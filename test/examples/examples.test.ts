// The examples import the package by its name, and so what is built in dist/.
import { describe, expect, onTestFinished, test } from 'vitest'
import { SQLITE } from '../databases.ts'
import { dropWatchesCases } from './drop-watches-cases.ts'
import { hostDatabase } from './host-databases.ts'
import { pinNewIssueCases } from './pin-new-issue-cases.ts'
import type { RunningExample } from './running-example.ts'
import { startExample, startModule } from './running-example.ts'

const sqlite = () => hostDatabase(SQLITE)

describe('examples/pin-new-issue-sqlite.mjs', () => pinNewIssueCases('pin-new-issue-sqlite.mjs', sqlite))
describe('examples/drop-watches-sqlite.mjs', () => dropWatchesCases('drop-watches-sqlite.mjs', sqlite))

const BY_TOKEN = async () => ({ authorization: 'Bearer olga-token' })

// mount-contract.servers.test.ts has the rest of what a mount does.
test.each([
  ['mount-node.mjs', startExample, BY_TOKEN],
  ['mount-hono.mjs', startExample, BY_TOKEN],
  ['mount-fastify.mjs', startExample, BY_TOKEN],
  ['mount-next.mjs', startModule, BY_TOKEN],
  ['mount-worker.mjs', startModule, BY_TOKEN],
  ['mount-express.mjs', startExample, bySession],
] as const)('examples/%s pins for whom the host knows, and for no one else', async (name, start, signIn) => {
  const example = await start(name, {})
  onTestFinished(() => example.stop())
  const pinned = new URL('/api/v1/repos/acme/rocket/issues/pinned?page=1', example.url)
  const pin = new URL('/api/v1/repos/acme/rocket/issues/2/pin', example.url)
  const headers = await signIn(example)

  const refused = await fetch(pin, { method: 'POST' })
  expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'UNAUTHENTICATED' }])
  expect((await fetch(pin, { method: 'POST', headers })).status).toBe(204)
  const list = await fetch(pinned, { headers })
  expect([list.status, list.headers.get('x-total-count')]).toEqual([200, '1'])
  expect(await list.json()).toMatchObject([{ number: 2, title: 'Issue 2', pin_order: 1 }])
})

async function bySession({ url }: RunningExample): Promise<Readonly<Record<string, string>>> {
  const body = new URLSearchParams({ login: 'olga' })
  const { headers } = await fetch(new URL('/login', url), { method: 'POST', body })
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
  expect(cookie).toMatch(/^session=/)
  return { cookie }
}
