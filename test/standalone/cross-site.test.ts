import { request as send } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
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
const FROM_ELSEWHERE = [
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.example' },
  { 'Sec-Fetch-Site': 'same-site', Origin: 'https://elsewhere.example' },
  { Origin: 'https://elsewhere.example' },
]

/** Asks as Alice for a block of Walt, and lifts it: undone whatever came. */
async function answer(method: string, headers: Readonly<Record<string, string>>): Promise<object> {
  const { status, text } = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const request = send(`${server.url}/orgs/acme/blocks/walt`, { method, headers }, async (response) => {
      resolve({
        status: response.statusCode,
        text: await response.toArray().then((all) => Buffer.concat(all).toString()),
      })
    })
    request.on('error', reject).end()
  })
  return { status, code: text === '' ? undefined : JSON.parse(text).code }
}

describe.each(FROM_ELSEWHERE)('a page of another site (%j)', (page) => {
  test.each([basic('alice-token:'), basic('alice:alice-token'), basic('alice-token:x-oauth-basic')])(
    'cannot change anything with %s',
    async (authorization) => {
      for (const method of ['PUT', 'DELETE']) {
        expect(await answer(method, { ...page, authorization })).toEqual({ status: 403, code: 'CROSS_SITE' })
      }
      expect(await answer('GET', { authorization: 'token alice-token' })).toEqual({ status: 404, code: 'NOT_BLOCKED' })
    },
  )

  test.each(['token alice-token', 'Bearer alice-token', 'BEARER alice-token'])(
    'can change what its own %s may',
    async (authorization) => {
      for (const method of ['PUT', 'DELETE']) {
        expect(await answer(method, { ...page, authorization })).toEqual({ status: 204, code: undefined })
      }
    },
  )

  test('may read with Basic credentials, as it cannot see the answer', async () => {
    const reply = await answer('GET', { ...page, authorization: basic('alice-token:') })
    expect(reply).toEqual({ status: 404, code: 'NOT_BLOCKED' })
  })
})

test('Basic credentials are enough for programs, and for pages of the server', async () => {
  for (const headers of [{}, { 'Sec-Fetch-Site': 'same-origin' }, { Origin: new URL(server.url).origin }]) {
    for (const method of ['PUT', 'DELETE']) {
      const reply = await answer(method, { ...headers, authorization: basic('alice-token:') })
      expect(reply).toEqual({ status: 204, code: undefined })
    }
  }
})
