import { describe, expect, test } from 'vitest'
import { onDatabases, SQLITE } from '../databases.ts'
import { pinNewIssueCases } from './pin-new-issue-cases.ts'
import { startExample } from './running-example.ts'

onDatabases([SQLITE], (_open, kind) => {
  describe('examples/pin-new-issue-sqlite.mjs', () => pinNewIssueCases('pin-new-issue-sqlite.mjs', kind))
})

// mount-contract.servers.test.ts has the rest of what a mount does.
test('examples/mount-express.mjs pins for whom the host knows by a session, and for no one else', async () => {
  const { url } = await startExample('mount-express.mjs')
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
