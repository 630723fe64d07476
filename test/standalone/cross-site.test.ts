import { request as send } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import type { Running } from '../start-forgelet.ts'
import { startForgelet } from '../start-forgelet.ts'
import { WORLD } from './world.ts'

// The server of `forgelet serve`: it takes tokens as Basic credentials, which browsers keep and add by themselves.

let server: Running

beforeAll(async () => {
  server = await startForgelet(['--db', ':memory:'], { fixture: WORLD })
  return async () => void (await server.stop())
})

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
const ELSEWHERE = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.example' }

/** Asks as Alice for a block of Walt, and lifts it: undone whatever came. Returns the statuses. */
async function changed(headers: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const statuses: unknown[] = []
  for (const method of ['PUT', 'DELETE']) {
    statuses.push(
      await new Promise((resolve, reject) => {
        const request = send(`${server.url}/orgs/acme/blocks/walt`, { method, headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        })
        request.on('error', reject).end()
      }),
    )
  }
  return statuses
}

test.each(['alice-token:', 'alice:alice-token', 'alice-token:x-oauth-basic'])(
  'a page of another site cannot change anything with Basic credentials (%s)',
  async (text) => {
    for (const page of [ELSEWHERE, { ...ELSEWHERE, 'Sec-Fetch-Site': 'same-site' }, { Origin: ELSEWHERE.Origin }]) {
      expect(await changed({ ...page, authorization: basic(text) })).toEqual([403, 403])
    }
  },
)

test.each(['token alice-token', 'Bearer alice-token', 'BEARER alice-token'])(
  'a page of another site can change what its own %s may',
  async (authorization) => {
    expect(await changed({ ...ELSEWHERE, authorization })).toEqual([204, 204])
  },
)

test('Basic credentials are enough for programs, and for pages of the server', async () => {
  for (const headers of [{}, { 'Sec-Fetch-Site': 'same-origin' }, { Origin: new URL(server.url).origin }]) {
    expect(await changed({ ...headers, authorization: basic('alice-token:') })).toEqual([204, 204])
  }
})
