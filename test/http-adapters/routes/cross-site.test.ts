import { describe, expect, it } from 'vitest'
import { refuseCrossSite } from '../../../src/http-adapters/routes/cross-site.ts'
import { plainRequest } from '../dispatch.ts'

type Headers = Readonly<Record<string, string>>

const PUBLIC_URL = 'https://public.example.com/api/v1'
const decide = (method: string, headers: Headers, publicUrl?: string) =>
  refuseCrossSite(plainRequest({ method, header: (name) => headers[name] }), publicUrl)

const host = 'git.example.com'
const [own, other] = [`https://${host}`, 'https://evil.example']
const site = (name: string, more: Headers = {}): Headers => ({ 'sec-fetch-site': name, ...more })

describe('an unsafe request', () => {
  it.each<Headers>([
    {},
    site('none'),
    site('same-origin'),
    site('same-site', { host, origin: own }),
    site('same-site', { host: 'inner:3000', origin: 'https://public.example.com' }),
    { host, origin: own },
    { host: `${host}:443`, origin: own },
    { host: 'GIT.example.com', origin: own },
    { host: 'inner:3000', origin: 'https://public.example.com' },
    ...['token x', 'Bearer x', 'TOKEN x', 'bearer  x', ' Bearer\tx'].flatMap((authorization) => [
      { host, origin: other, authorization },
      site('cross-site', { authorization }),
    ]),
  ])('with %j is let through', (headers) => {
    expect(() => decide('POST', headers, PUBLIC_URL)).not.toThrow()
  })

  it.each<Headers>([
    site('cross-site'),
    site('cross-site', { host, origin: own }),
    site('cross-site, same-origin', { host }),
    site('other', { host }),
    site('', { host }),
    site('same-site', { host }),
    site('same-site', { host, origin: 'https://pages.example.com' }),
    site('same-site', { host: 'localhost:3000', origin: 'http://localhost:4000' }),
    site('same-site', { host, origin: 'null' }),
    { host, origin: other },
    { host, origin: `${own}:8443` },
    { host, origin: 'null' },
    { origin: own },
    { host: '::', origin: own },
    ...['', 'Basic YWRhOng=', 'Hawk id="x"', 'Bearer', 'token', 'Bearerx y', 'tokenx', 'Token:x y', 'x Bearer y'].map(
      (authorization) => ({ host, origin: other, authorization }),
    ),
  ])('with %j is refused', (headers) => {
    expect(() => decide('DELETE', headers)).toThrow(
      'requests from other sites need an Authorization header with the scheme Bearer or token',
    )
  })
})

it.each(['GET', 'HEAD', 'OPTIONS'])('a %s from another site is let through', (method) => {
  expect(() => decide(method, site('cross-site'))).not.toThrow()
})
