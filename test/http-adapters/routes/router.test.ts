import { describe, expect, it } from 'vitest'
import type { Match, Method } from '../../../src/http-adapters/routes/router.ts'
import { Router } from '../../../src/http-adapters/routes/router.ts'

interface Row {
  readonly method: Method
  readonly path: string
}

const rows: readonly Row[] = [
  { method: 'GET', path: '/a' },
  { method: 'GET', path: '/a/{x}' },
  { method: 'PUT', path: '/a/{x}' },
  { method: 'GET', path: '/a/fixed' },
  { method: 'POST', path: '/a/{x}/b' },
  { method: 'PATCH', path: '/{first}/{second}/c/{third}' },
]
const router = new Router(rows)

function reported(match: Match<Row> | undefined): string {
  if (match === undefined) return 'not ours'
  if (match.kind === 'malformed') return 'malformed'
  if (match.kind !== 'route') return `${match.kind}: ${match.allow}`
  const names = [...match.route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => `${name}=${match.parameter(name)}`)
  return [match.route.path, ...names].join(' ')
}

describe('a path', () => {
  it.each([
    ['GET', '/a', '/a'],
    ['GET', '/a/', '/a'],
    ['GET', '/a//', 'not ours'],
    ['GET', '/', 'not ours'],
    ['GET', '', 'not ours'],
    ['GET', '*', 'not ours'],
    ['GET', 'xa', 'not ours'],
    ['GET', '//a', 'not ours'],
    ['GET', '/A', 'not ours'],
    ['GET', '/a/one', '/a/{x} x=one'],
    ['GET', '/a/%6fne', '/a/{x} x=one'],
    ['GET', '/a/one%2Ftwo', '/a/{x} x=one/two'],
    ['GET', '/a/%252F', '/a/{x} x=%2F'],
    ['GET', '/a/a+b', '/a/{x} x=a+b'],
    ['GET', '/a/%', 'malformed'],
    ['GET', '/a/%ff', 'malformed'],
    ['OPTIONS', '/a/%', 'malformed'],
    ['GET', '/nothing/%', 'not ours'],
    ['GET', '/a/fixed', '/a/fixed'],
    ['POST', '/a/fixed/b', '/a/{x}/b x=fixed'],
    ['PATCH', '/a/fixed/c/d', '/{first}/{second}/c/{third} first=a second=fixed third=d'],
    ['PUT', '/a/fixed', 'wrong-method: GET, HEAD, OPTIONS'],
    ['DELETE', '/a/one', 'wrong-method: GET, HEAD, PUT, OPTIONS'],
    ['get', '/a', 'wrong-method: GET, HEAD, OPTIONS'],
    ['HEAD', '/a/one', '/a/{x} x=one'],
    ['HEAD', '/a/one/b', 'wrong-method: POST, OPTIONS'],
    ['OPTIONS', '/a/one/b', 'options: POST, OPTIONS'],
    ['GET', '/__proto__/constructor', 'not ours'],
  ])('%s %s leads to %s', (method, path, expected) => {
    expect(reported(router.match(method, path))).toBe(expected)
  })

  it('has no parameter that its template has not', () => {
    const match = router.match('GET', '/a/one')

    expect(() => match?.kind === 'route' && match.parameter('y')).toThrow(RangeError)
  })
})
