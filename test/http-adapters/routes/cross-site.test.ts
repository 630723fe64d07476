import { describe, expect, it } from 'vitest'
import { refuseCrossSite } from '../../../src/http-adapters/routes/cross-site.ts'
import type { NeutralRequest } from '../../../src/http-adapters/routes/neutral.ts'

function request(method: string, headers: Readonly<Record<string, string>>): NeutralRequest {
  return { method, path: '/', query: '', header: (name) => headers[name], body: () => undefined }
}

const HOST = { host: 'git.example.com' }

describe('an unsafe request', () => {
  it.each([
    ['without any of the headers', {}],
    ['of the same origin', { 'sec-fetch-site': 'same-origin' }],
    ['of the same site', { 'sec-fetch-site': 'same-site' }],
    ['that the user made', { 'sec-fetch-site': 'none' }],
    ['whose origin is the host', { ...HOST, origin: 'https://git.example.com' }],
    [
      'whose origin is the host with its usual port',
      { host: 'git.example.com:443', origin: 'https://git.example.com' },
    ],
    ['whose origin is the host in capitals', { host: 'GIT.example.com', origin: 'https://git.example.com' }],
    ['whose origin is the public address', { host: 'inner:3000', origin: 'https://public.example.com' }],
    ['from another site with a credential', { ...HOST, origin: 'https://evil.example', authorization: 'token x' }],
  ])('%s is let through', (_what, headers) => {
    expect(() => refuseCrossSite(request('POST', headers), 'https://public.example.com/api/v1')).not.toThrow()
  })

  it.each([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    [
      'from another site that lies about its origin',
      { ...HOST, 'sec-fetch-site': 'cross-site', origin: 'https://git.example.com' },
    ],
    ['of another origin', { ...HOST, origin: 'https://evil.example' }],
    ['of another port', { ...HOST, origin: 'https://git.example.com:8443' }],
    ['of an opaque origin', { ...HOST, origin: 'null' }],
    ['of an origin, to no host', { origin: 'https://git.example.com' }],
    ['of an origin, to a host that is none', { host: '::', origin: 'https://git.example.com' }],
    ['with an empty credential', { ...HOST, origin: 'https://evil.example', authorization: '' }],
  ])('%s is refused', (_what, headers) => {
    expect(() => refuseCrossSite(request('DELETE', headers), undefined)).toThrow('need an Authorization header')
  })
})

it.each(['GET', 'HEAD', 'OPTIONS'])('a %s from another site is let through', (method) => {
  expect(() => refuseCrossSite(request(method, { 'sec-fetch-site': 'cross-site' }), undefined)).not.toThrow()
})
