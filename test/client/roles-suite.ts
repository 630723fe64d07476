import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served, StartServer } from './served.ts'

// What a permitted caller asks for changes nothing, so rows cannot meet.

const people = ['wrong', 'anonymous', 'stan', 'rea', 'wim', 'ada', 'mia', 'olga', 'root'] as const

// One line a route: what each of them is answered.
const table = `
  GET /signing-key.gpg                     401   404   404   404   404   404   404   404   404
  GET /signing-key.pub                     401   404   404   404   404   404   404   404   404
  GET /repos/acme/rocket/signing-key.gpg   401   404   404   404   404   404   404   404   404
  GET /repos/acme/rocket/signing-key.pub   401   404   404   404   404   404   404   404   404
  GET /repos/acme/rocket/issues/pinned     401   200   200   200   200   200   200   200   200
  GET /repos/acme/rocket/pulls/pinned      401   200   200   200   200   200   200   200   200
  GET /repos/acme/rocket/new_pin_allowed   401   200   200   200   200   200   200   200   200
  POST /repos/acme/rocket/issues/1/pin     401   401   403   403   403   204   403   204   204
  DELETE /repos/acme/rocket/issues/2/pin   401   401   403   403   403   204   403   204   204
  PATCH /repos/acme/rocket/issues/3/pin/1  401   401   403   403   403   404   403   404   404
  GET /repos/acme/secret/issues/pinned     401   404   404   200   200   200   200   200   200
  GET /repos/acme/secret/pulls/pinned      401   404   404   200   200   200   200   200   200
  GET /repos/acme/secret/new_pin_allowed   401   404   404   200   200   200   200   200   200
  POST /repos/acme/secret/issues/1/pin     401   404   404   403   403   204   403   204   204
  DELETE /repos/acme/secret/issues/9/pin   401   404   404   403   403   404   403   404   404
  PATCH /repos/acme/secret/issues/9/pin/1  401   404   404   403   403   404   403   404   404
  POST /repos/olga/own/issues/1/pin        401   401   403   403   403   403   403   204   204
  GET /orgs/acme/blocks                    401   401   403   403   403   403   403   200   200
  GET /orgs/acme/blocks/eve                401   401   403   403   403   403   403   404   404
  PUT /orgs/acme/blocks/hidden             401   401   403   403   403   403   403   422   422
  DELETE /orgs/acme/blocks/eve             401   401   403   403   403   403   403   422   422
  GET /orgs/hidden/blocks                  401   404   404   404   404   404   403   200   200
  GET /orgs/hidden/blocks/eve              401   404   404   404   404   404   403   404   404
  PUT /orgs/hidden/blocks/acme             401   404   404   404   404   404   403   422   422
  DELETE /orgs/hidden/blocks/eve           401   404   404   404   404   404   403   422   422
  GET /admin/users/eve/badges              401   401   403   403   403   403   403   403   200
  POST /admin/users/eve/badges             401   401   403   403   403   403   403   403   204
  DELETE /admin/users/eve/badges           401   401   403   403   403   403   403   403   204
`

const rows = table
  .trim()
  .split('\n')
  .map((line) => {
    const [method = '', path = '', ...statuses] = line.trim().split(/ +/)
    return { method, path, statuses: statuses.map(Number) }
  })

function credential(person: (typeof people)[number]): Readonly<Record<string, string>> {
  if (person === 'anonymous') return {}
  return { authorization: `token ${person === 'wrong' ? 'no-such-token' : `${person}-token`}` }
}

/** Every role on every route. */
export function rolesSuite(name: string, start: StartServer): void {
  describe(name, () => {
    let served: Served

    beforeAll(async () => {
      served = await start()
    })

    afterAll(() => served.stop())

    describe.each(rows)('$method $path', ({ method, path, statuses }) => {
      const cases = people.map((person, index) => ({ person, status: statuses[index] ?? 0 }))

      test.each(cases)('answers $person with $status', async ({ person, status }) => {
        const body = path.startsWith('/admin') && method !== 'GET' ? { body: '{"badge_slugs":[]}' } : {}
        const reply = await fetch(`${served.url}${path}`, { method, headers: credential(person), ...body })
        expect(reply.status).toBe(status)
        if (status < 400) return

        expect(reply.headers.get('content-type')).toBe('application/json;charset=utf-8')
        const page = new URL('/api/swagger', served.url).href
        expect(await reply.json()).toMatchObject({ message: expect.any(String), url: page, code: expect.any(String) })
      })
    })
  })
}
