import { describe, expect, it } from 'vitest'
import type { Match, Method } from '../../../src/http-adapters/routes/router.ts'
import { createRouter } from '../../../src/http-adapters/routes/router.ts'

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
const match = createRouter(rows)

function reported(found: Match<Row> | undefined): string {
  if (found === undefined) return 'not ours'
  const { route, path, allow, names, values } = found
  if (values === undefined) return 'malformed'
  if (route === undefined) return `${path} has ${allow}`
  return [path, ...names.map((name, at) => `${name}=${values[at + 1]}`)].join(' ')
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
    ['PUT', '/a/fixed', '/a/fixed has GET, HEAD, OPTIONS'],
    ['DELETE', '/a/one', '/a/{x} has GET, HEAD, PUT, OPTIONS'],
    ['get', '/a', '/a has GET, HEAD, OPTIONS'],
    ['HEAD', '/a/one', '/a/{x} x=one'],
    ['HEAD', '/a/one/b', '/a/{x}/b has POST, OPTIONS'],
    ['OPTIONS', '/a/one/b', '/a/{x}/b has POST, OPTIONS'],
    ['GET', '/__proto__/constructor', 'not ours'],
  ])('%s %s leads to %s', (method, path, expected) => {
    expect(reported(match(method, path))).toBe(expected)
  })
})
