import { describe, expect, it } from 'vitest'
import { ForgeError } from '../../../../src/index.ts'
import { cases } from '../../cases.ts'
import type { Exchanged } from '../../declared-replies.ts'
import { checkReply } from '../../declared-replies.ts'
import { plainRequest, readText } from '../../plain-request.ts'
import type { Seen, Sent } from '../../run-case.ts'
import { runCase } from '../../run-case.ts'
import type { World } from '../../world.ts'
import { authenticate, directory, openWorld } from '../../world.ts'

/** By dispatch; every reply on the way must be declared, that of the case and those before and after it. */
async function send({ api }: World, { method, path: target, headers, body }: Sent): Promise<Seen> {
  const [path = '', query = ''] = target.split('?')
  const request = plainRequest({ method, path, query, header: (name) => headers[name], body })
  const reply = (await api.dispatch(request, () => authenticate(headers['authorization']))) ?? api.unmatched(request)
  const seen = {
    status: reply.status,
    headers: new Map(reply.headers.map(([name, value]) => [name.toLowerCase(), value])),
    text: await readText(reply),
  }
  expect(checkReply(api.openApi(), { method, path, ...seen })).toEqual([])
  return seen
}

describe.each(Object.entries(cases))('the document declares the reply when, of %s,', (_section, list) => {
  it.each(list)('$fact', (given) => runCase(given, send))
})

describe('the document declares what any route may meet', () => {
  const world = (error: unknown): World =>
    openWorld({
      directory: {
        ...directory,
        findAccount: () => {
          throw error
        },
      },
    })

  it.each([
    [new ForgeError('STORAGE_BUSY', '', { retry: 'call' }), 503],
    [new ForgeError('STORAGE_UNAVAILABLE', '', { outcome: 'unknown' }), 503],
    [new ForgeError('SCHEMA_OUTDATED', '', { found: 1, needed: 2 }), 503],
    [new ForgeError('SCHEMA_TOO_NEW', '', { found: 3, oldestLibrary: 2 }), 503],
    [new Error('boom'), 500],
  ])('%s', async (error, status) => {
    for (const [method, path] of [
      ['GET', '/orgs/acme/blocks'],
      ['DELETE', '/admin/users/stan/badges'],
    ] as const) {
      const sent = { method, path, headers: { authorization: 'token root' }, body: undefined }
      expect(await send(world(error), sent)).toMatchObject({ status })
    }
  })
})

describe('what the document does not declare', () => {
  const document = openWorld().api.openApi()
  const cached = ['cache-control', 'max-age=0, private, must-revalidate'] as const
  const sniffed = ['x-content-type-options', 'nosniff'] as const
  const json = ['content-type', 'application/json;charset=utf-8'] as const
  const counted = [
    cached,
    sniffed,
    json,
    ['x-total-count', '1'],
    ['access-control-expose-headers', 'X-Total-Count'],
  ] as const
  const badges: Exchanged = {
    method: 'GET',
    path: '/admin/users/stan/badges?page=1',
    status: 200,
    headers: new Map(counted),
    text: '[]',
  }
  const refused: Exchanged = {
    ...badges,
    status: 404,
    headers: new Map([cached, sniffed, json]),
    text: '{"message":"","url":"","code":"USER_NOT_FOUND"}',
  }

  it.each([
    ['a status', { status: 418 }, 'GET /admin/users/{username}/badges: the status 418 is not declared'],
    ['a header', { headers: new Map([...counted, ['x-more', '1']]) }, 'has the header x-more'],
    ['a missing header', { headers: new Map(counted.slice(0, 3)) }, 'lacks the header access-control-expose-headers'],
    ['a header of another form', { headers: new Map([...counted, ['x-total-count', 'many']]) }, 'x-total-count: many'],
    ['a content type', { headers: new Map([...counted, ['content-type', 'application/json']]) }, 'application/json'],
    ['a body of another form', { text: '[{"id":1}]' }, "must have required property 'slug'"],
    ['a body that is not JSON', { text: '<p>' }, 'is not JSON'],
    ['a body where none is expected', { method: 'HEAD' }, 'has a body'],
    ['a HEAD without a length', { method: 'HEAD', text: '' }, 'lacks the content-length'],
    ['a path', { path: '/version' }, 'GET /version: the status 200 is not declared'],
    ['a method', { method: 'PATCH' }, 'the status 200 is not declared'],
    ['a path that cannot be decoded', { path: '/admin/users/%zz/badges' }, 'the status 200 is not declared'],
  ] satisfies [string, Partial<Exchanged>, string][])('is reported: %s', (_what, change, reported) => {
    expect(checkReply(document, badges)).toEqual([])
    expect(checkReply(document, { ...badges, ...change }).join('\n')).toContain(reported)
  })

  it.each([
    ['a code', { text: '{"message":"","url":"","code":"NOT_BLOCKED"}' }, 'at "/code"'],
    ['a property of an error', { text: '{"message":"","url":"","code":"USER_NOT_FOUND","sql":""}' }, '"sql"'],
    ['an Allow that lacks a method', { method: 'PUT', status: 405 }, 'lacks the header allow'],
  ] satisfies [string, Partial<Exchanged>, string][])('receives an error: %s', (_what, change, reported) => {
    expect(checkReply(document, refused)).toEqual([])
    expect(checkReply(document, { ...refused, ...change }).join('\n')).toContain(reported)
  })
})
