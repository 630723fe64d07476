// The examples import the package by its name, and so what is built in dist/.
import { describe, expect, onTestFinished, test } from 'vitest'
import { SQLITE } from '../databases.ts'
import { hostDatabase } from './host-databases.ts'
import { pinNewIssueCases } from './pin-new-issue-cases.ts'
import { startExample } from './running-example.ts'

describe('examples/pin-new-issue-sqlite.mjs', () =>
  pinNewIssueCases('pin-new-issue-sqlite.mjs', () => hostDatabase(SQLITE)))

// mount-contract.servers.test.ts has the rest of what a mount does.
test('examples/mount-express.mjs pins for whom the host knows by a session, and for no one else', async () => {
  const { url, stop } = await startExample('mount-express.mjs', {})
  onTestFinished(stop)
  const pin = new URL('/api/v1/repos/acme/rocket/issues/2/pin', url)
  const refused = await fetch(pin, { method: 'POST' })
  expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'UNAUTHENTICATED' }])

  const login = await fetch(new URL('/login', url), { method: 'POST', body: new URLSearchParams({ login: 'olga' }) })
  const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';')
  expect(cookie).toMatch(/^session=/)
  expect((await fetch(pin, { method: 'POST', headers: { cookie } })).status).toBe(204)
  const list = await fetch(new URL('/api/v1/repos/acme/rocket/issues/pinned', url))
  expect(await list.json()).toMatchObject([{ number: 2, title: 'Issue 2', pin_order: 1 }])
})
