import { describe, expect, it } from 'vitest'
import type { ApiRequest } from '../../../src/http-adapters/http.ts'
import { refuseCrossSite } from '../../../src/http-adapters/routes/cross-site.ts'
import { plainRequest } from '../dispatch.ts'

function request(method: string, headers: Readonly<Record<string, string>>): ApiRequest {
  return plainRequest({ method, header: (name) => headers[name] })
}

const HOST = { host: 'git.example.com' }

type Case = readonly [what: string, headers: Readonly<Record<string, string>>]

describe('an unsafe request', () => {
  it.each<Case>([
    ['without any of the headers', {}],
    ['of the same origin', { 'sec-fetch-site': 'same-origin' }],
    [
      'of the same site whose origin is the host',
      { ...HOST, 'sec-fetch-site': 'same-site', origin: `https://${HOST.host}` },
    ],
    [
      'of the same site whose origin is the public address',
      { host: 'inner:3000', 'sec-fetch-site': 'same-site', origin: 'https://public.example.com' },
    ],
    ['that the user made', { 'sec-fetch-site': 'none' }],
    ['whose origin is the host', { ...HOST, origin: 'https://git.example.com' }],
    [
      'whose origin is the host with its usual port',
      { host: 'git.example.com:443', origin: 'https://git.example.com' },
    ],
    ['whose origin is the host in capitals', { host: 'GIT.example.com', origin: 'https://git.example.com' }],
    ['whose origin is the public address', { host: 'inner:3000', origin: 'https://public.example.com' }],
    ...['token x', 'Bearer x', 'TOKEN x', 'bearer  x', ' Bearer\tx'].flatMap((authorization): Case[] => [
      [`from another site with ${authorization}`, { ...HOST, origin: 'https://evil.example', authorization }],
      [`that says cross-site with ${authorization}`, { 'sec-fetch-site': 'cross-site', authorization }],
    ]),
  ])('%s is let through', (_what, headers) => {
    expect(() => refuseCrossSite(request('POST', headers), 'https://public.example.com/api/v1')).not.toThrow()
  })

  it.each<Case>([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    [
      'from another site that lies about its origin',
      { ...HOST, 'sec-fetch-site': 'cross-site', origin: 'https://git.example.com' },
    ],
    ['of another origin', { ...HOST, origin: 'https://evil.example' }],
    ['of another port', { ...HOST, origin: 'https://git.example.com:8443' }],
    ['of an opaque origin', { ...HOST, origin: 'null' }],
    ['of an origin, to no host', { origin: 'https://git.example.com' }],
    ['of an origin, to an invalid host', { host: '::', origin: 'https://git.example.com' }],
    ['of the same site, of which no origin is known', { ...HOST, 'sec-fetch-site': 'same-site' }],
    [
      'of the same site and another origin',
      { ...HOST, 'sec-fetch-site': 'same-site', origin: 'https://pages.example.com' },
    ],
    [
      'of the same host and another port',
      { host: 'localhost:3000', 'sec-fetch-site': 'same-site', origin: 'http://localhost:4000' },
    ],
    ['of the same site and an opaque origin', { ...HOST, 'sec-fetch-site': 'same-site', origin: 'null' }],
    ['whose Sec-Fetch-Site is unknown', { ...HOST, 'sec-fetch-site': 'other' }],
    ['whose Sec-Fetch-Site is empty', { ...HOST, 'sec-fetch-site': '' }],
    ['with two values of Sec-Fetch-Site', { ...HOST, 'sec-fetch-site': 'cross-site, same-origin' }],
    ...[
      '',
      'Basic YWRhOng=',
      'basic YWRhOng=',
      'Digest username="ada", realm="git"',
      'Negotiate YII=',
      'NTLM TlRMTVNTUAAB',
      'Hawk id="x"',
      'Bearer',
      'token',
      'Bearerx y',
      'tokenx',
      'Token:x y',
      'x Bearer y',
      'Basic Bearer x',
      'Basic YWRhOng=, Bearer x',
    ].map(
      (authorization): Case => [
        `with ${authorization || 'an empty credential'}`,
        { ...HOST, origin: 'https://evil.example', authorization },
      ],
    ),
  ])('%s is refused', (_what, headers) => {
    expect(() => refuseCrossSite(request('DELETE', headers), undefined)).toThrow(
      'requests from other sites need an Authorization header with the scheme Bearer or token',
    )
  })
})

it.each(['GET', 'HEAD', 'OPTIONS'])('a %s from another site is let through', (method) => {
  expect(() => refuseCrossSite(request(method, { 'sec-fetch-site': 'cross-site' }), undefined)).not.toThrow()
})
