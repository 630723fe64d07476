import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ask, dial } from '../http.ts'
import { runForgelet, startForgelet } from '../start-forgelet.ts'

// What forgelet serve has beside the API: the version, the document and the API page; and forgelet openapi.

let url: string

beforeAll(async () => {
  const running = await startForgelet(['--db', ':memory:'])
  url = running.url
  return async () => void (await running.stop())
})

/** Unlike fetch, sends the path as it stands. */
async function visit(path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}) {
  const client = await dial(url)
  await client.send(ask(`${method} ${path}`, headers))
  return client.reply(method)
}

test.each([
  ['/api/v1/version', 'application/json;charset=utf-8'],
  ['/api/v1/openapi.json', 'application/json;charset=utf-8'],
  ['/api/swagger', 'text/html; charset=utf-8'],
  ['/api/swagger/api-page.js', 'text/javascript; charset=utf-8'],
  ['/api/swagger/api-page.css', 'text/css; charset=utf-8'],
  ['/api/swagger/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['/api/swagger/swagger-ui.css', 'text/css; charset=utf-8'],
])('the page %s is what its type says, and is sent once to a client', async (path, type) => {
  const { status, headers, text } = await visit(path)
  expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([200, type, 'nosniff'])
  expect(headers.get('cache-control')).toBe('max-age=0, private, must-revalidate')

  const etag = headers.get('etag') ?? ''
  const again = await visit(path, 'GET', { 'If-None-Match': `"other", W/${etag}` })
  expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
  expect((await visit(path, 'GET', { 'If-None-Match': '*' })).status).toBe(304)
  expect((await visit(path, 'GET', { 'If-None-Match': '"another"' })).status).toBe(200)

  const head = await visit(path, 'HEAD')
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(Buffer.byteLength(text))])
})

test('the version is that of the API it follows, and its own', async () => {
  const version = expect.stringMatching(/^1\.27\.3\+forgelet-\d+\.\d+\.\d+$/)
  for (const path of ['/api/v1/version?x=1', 'HTTP://Forge.example.com/api/v1/version']) {
    expect(JSON.parse((await visit(path)).text)).toEqual({ version })
  }
})

test.each(['/api/v1/version', '/api/v1/openapi.json'])('%s accepts a trailing slash, as the API does', async (path) => {
  const [{ text }, { status, text: same }] = [await visit(path), await visit(`${path}/`)]
  expect([status, same]).toEqual([200, text])
  expect((await visit(`${path}//`)).status).toBe(404)
})

test.each([
  ...['/api', '/api/v1/nothing', '/API/V1/version', '/elsewhere', '/api/swagger/LICENSE', '/api/swagger/constructor'],
  ...['/../../package.json', '/%2e%2e/%2e%2e/package.json', '//etc/passwd'].map((path) => `/api/swagger${path}`),
])('%s is a 404 in JSON', async (path) => {
  const { status, headers, text } = await visit(path)
  expect([status, headers.get('content-type')]).toEqual([404, 'application/json;charset=utf-8'])
  const page = new URL('/api/swagger', url).href
  expect(JSON.parse(text)).toEqual({ message: 'not found', code: 'ROUTE_NOT_FOUND', url: page })
  expect((await visit(path, 'HEAD')).headers.get('content-length')).toBe(String(text.length))
})

describe('the API page', () => {
  test('may load nothing from other origins and run no inline script', async () => {
    const { headers, text } = await visit('/api/swagger')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
    )
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(text).not.toMatch(/<script>|<style|style=|\bon\w+=|https?:/)
  })

  test('names its parts by addresses that are right under any prefix', async () => {
    const { text } = await visit('/api/swagger')
    const parts = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part)
    expect(parts.filter((part) => part.startsWith('/') || part.includes('..'))).toEqual([])
    for (const part of parts.filter((one) => one !== 'data:,')) {
      expect((await visit(new URL(part, new URL('/api/swagger', url)).pathname)).status).toBe(200)
    }
  })

  test('is shown as the package of Swagger UI has it, with its licence beside it', async () => {
    const read = (path: string) => readFile(resolve(import.meta.dirname, '../..', path))
    for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) {
      const served = Buffer.from(await (await fetch(new URL(`/api/swagger/${name}`, url))).arrayBuffer())
      expect(served.equals(await read(`node_modules/swagger-ui-dist/${name}`))).toBe(true)
    }
    expect(String(await read('dist/swagger-ui/LICENSE'))).toContain('Apache License')
    expect(String(await read('dist/swagger-ui/NOTICE'))).toContain('swagger-ui')
  })

  test.each([
    ['/?x=1', 'api/swagger'],
    ['/api/v1', 'swagger'],
    ['/api/v1/', '../swagger'],
    ['/api/swagger/', '../swagger'],
  ])('is where %s leads', async (path, location) => {
    const { status, headers, text } = await visit(path)
    expect([status, headers.get('location'), text]).toEqual([302, location, ''])
    expect((await fetch(new URL(path, url))).url).toBe(new URL('/api/swagger', url).href)
  })
})

test.each([[[]], [['--public-url', 'https://git.example.com']]])(
  'forgelet openapi prints what the server has at openapi.json, in lines or in one: %j',
  async (options) => {
    const running = await startForgelet(['--db', ':memory:', ...options])
    const served = await (await fetch(`${running.url}/openapi.json`)).json()
    const url = options.length === 0 ? '/api/v1' : 'https://git.example.com/api/v1'
    expect(served).toMatchObject({ openapi: '3.1.0', servers: [{ url }] })
    const out = `${JSON.stringify(served, undefined, 2)}\n`
    expect(await runForgelet(['openapi', ...options])).toEqual({ code: 0, out, err: '' })
    expect(await runForgelet(['openapi', '--json', ...options])).toMatchObject({ out: `${JSON.stringify(served)}\n` })
  },
)
