import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { startForgelet } from '../start-forgelet.ts'

// What forgelet serve has beside the API: the version, the document and the API page.

let url: string

beforeAll(async () => {
  const running = await startForgelet(['--db', ':memory:'])
  url = running.url
  return async () => void (await running.stop())
})

/** Unlike fetch, sends the path as it stands. */
function visit(path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}): Promise<Visited> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { path, method, headers }, (reply) => {
      let text = ''
      reply.on('data', (chunk) => {
        text += chunk
      })
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, text }))
    })
    sent.on('error', reject).end()
  })
}

interface Visited {
  readonly status: number | undefined
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly text: string
}

const ALLOW = 'GET, HEAD'

test.each([
  ['/api/v1/version', 'application/json;charset=utf-8'],
  ['/api/v1/openapi.json', 'application/json;charset=utf-8'],
  ['/api/swagger', 'text/html; charset=utf-8'],
  ['/api/swagger/api-page.js', 'text/javascript; charset=utf-8'],
  ['/api/swagger/api-page.css', 'text/css; charset=utf-8'],
  ['/api/swagger/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['/api/swagger/swagger-ui.css', 'text/css; charset=utf-8'],
])('the page %s is what its type says, is sent once to a client, and answers no other method', async (path, type) => {
  const { status, headers, text } = await visit(path)
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'cache-control': 'max-age=0, private, must-revalidate',
  })

  const etag = String(headers['etag'])
  const again = await visit(path, 'GET', { 'if-none-match': etag })
  expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag])
  expect(again.headers['content-type']).toBeUndefined()
  expect((await visit(path, 'GET', { 'if-none-match': `"other", W/${etag}` })).status).toBe(304)
  expect((await visit(path, 'GET', { 'if-none-match': '"another"' })).status).toBe(200)

  const head = await visit(path, 'HEAD')
  const length = String(Buffer.byteLength(text))
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', length])
  const post = await visit(path, 'POST')
  expect(post).toMatchObject({ status: 405, headers: { allow: ALLOW } })
  const page = new URL('/api/swagger', url).href
  expect(JSON.parse(post.text)).toEqual({ message: 'method not allowed', code: 'METHOD_NOT_ALLOWED', url: page })
})

test('the version is that of the API it follows, and its own', async () => {
  const version = expect.stringMatching(/^1\.27\.3\+forgelet-\d+\.\d+\.\d+$/)
  for (const path of ['/api/v1/version', '/api/v1/version/?x=1', 'HTTP://Forge.example.com/api/v1/version']) {
    expect(JSON.parse((await visit(path)).text)).toEqual({ version })
  }
})

test.each([
  ...['/api', '/api/v1/nothing', '/API/V1/version', '/api/v1/Version', '/elsewhere', '/api/Swagger'],
  ...['/../../package.json', '/%2e%2e/%2e%2e/package.json', '/..%2f..%2fpackage.json', '//etc/passwd'].map(
    (path) => `/api/swagger${path}`,
  ),
  ...['LICENSE', 'swagger-ui.css.map', 'constructor'].map((name) => `/api/swagger/${name}`),
])('%s is a 404 in JSON', async (path) => {
  const { status, headers, text } = await visit(path)
  expect([status, headers['content-type']]).toEqual([404, 'application/json;charset=utf-8'])
  const page = new URL('/api/swagger', url).href
  expect(JSON.parse(text)).toEqual({ message: 'not found', code: 'ROUTE_NOT_FOUND', url: page })
  const head = await visit(path, 'HEAD')
  expect([head.status, head.headers['content-length']]).toEqual([404, String(text.length)])
})

describe('the API page', () => {
  test('may load nothing from other origins and run no inline script', async () => {
    const { headers, text } = await visit('/api/swagger')
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
    )
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/)
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
    const read = (path: string) => readFile(resolve(import.meta.dirname, '../..', path), 'utf8')
    for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) {
      expect((await visit(`/api/swagger/${name}`)).text === (await read(`node_modules/swagger-ui-dist/${name}`))).toBe(
        true,
      )
    }
    expect(await read('dist/swagger-ui/LICENSE')).toContain('Apache License')
    expect(await read('dist/swagger-ui/NOTICE')).toContain('swagger-ui')
  })

  test.each([
    ['/', 302, 'api/swagger'],
    ['/?x=1', 302, 'api/swagger'],
    ['/api/v1', 302, 'swagger'],
    ['/api/v1?x=1', 302, 'swagger'],
    ['/api/v1/', 302, '../swagger'],
    ['/api/swagger/', 302, '../swagger'],
  ])('is where %s leads', async (path, status, location) => {
    expect(await visit(path)).toMatchObject({ status, headers: { location }, text: '' })
    expect(await visit(path, 'HEAD')).toMatchObject({ status, headers: { location } })
    expect(await visit(path, 'POST')).toMatchObject({ status: 405, headers: { allow: ALLOW } })
    expect((await fetch(new URL(path, url))).url).toBe(new URL('/api/swagger', url).href)
  })
})
