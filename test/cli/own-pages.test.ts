import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerPage, StaticPage } from '../../src/cli/static-page.ts'
import type { Running } from './command.ts'
import { startServe } from './command.ts'

// A real child process of dist/cli.js.

let folder: string
let running: Running

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-pages-'))
  running = await startServe(folder, ['--db', ':memory:'])
})

afterAll(async () => {
  await running.stop()
  await rm(folder, { recursive: true })
})

/** Unlike fetch, sends the path as it stands. */
function visit(path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}): Promise<Visited> {
  return new Promise((resolve, reject) => {
    const sent = request(running.url, { path, method, headers }, (reply) => {
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

const PAGES = [
  ['/api/v1/version', 'application/json;charset=utf-8'],
  ['/api/v1/openapi.json', 'application/json;charset=utf-8'],
  ['/api/swagger', 'text/html; charset=utf-8'],
  ['/api/swagger/api-page.js', 'text/javascript; charset=utf-8'],
  ['/api/swagger/api-page.css', 'text/css; charset=utf-8'],
  ['/api/swagger/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['/api/swagger/swagger-ui.css', 'text/css; charset=utf-8'],
] as const

describe.each(PAGES)('the page %s', (path, type) => {
  test('is what its type says, and nothing else', async () => {
    expect((await visit(path)).headers).toMatchObject({
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'cache-control': 'max-age=0, private, must-revalidate',
    })
  })

  test('is not sent again to a client that has it', async () => {
    const { status, headers } = await visit(path)
    const again = await visit(path, 'GET', { 'if-none-match': String(headers['etag']) })
    const weak = await visit(path, 'GET', { 'if-none-match': `"other", W/${headers['etag']}` })
    const other = await visit(path, 'GET', { 'if-none-match': '"another"' })

    expect([status, again.status, again.text, again.headers['content-type']]).toEqual([200, 304, '', undefined])
    expect([again.headers['etag'], weak.status, other.status]).toEqual([headers['etag'], 304, 200])
  })

  test('answers HEAD as GET without the body, OPTIONS and other methods with Allow', async () => {
    const [get, head, options, post] = [
      await visit(path),
      await visit(path, 'HEAD'),
      await visit(path, 'OPTIONS'),
      await visit(path, 'POST'),
    ]

    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      String(Buffer.byteLength(get.text)),
    ])
    expect([options.status, options.headers['allow']]).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect([post.status, post.headers['allow'], JSON.parse(post.text)]).toEqual([
      405,
      'GET, HEAD, OPTIONS',
      { message: 'method not allowed', code: 'METHOD_NOT_ALLOWED', url: new URL('/api/swagger', running.url).href },
    ])
  })
})

describe('a page', () => {
  test('is read once, at the first visit, and all visits share its bytes', () => {
    let reads = 0
    const page = new StaticPage([], () => {
      reads += 1
      return 'text'
    })
    expect(reads).toBe(0)
    const [first, second] = [page.ready(), page.ready()]

    expect([reads, String(first?.bytes), first?.bytes === second?.bytes]).toEqual([1, 'text', true])
  })
})

describe('a page that cannot be read', () => {
  test('is 500, and the server goes on', async () => {
    const page = new StaticPage([], () => {
      throw new Error('ENOENT /etc/secret')
    })
    const server = createServer((request, response) => answerPage(page, { request, response, docsUrl: '' }))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    for (const _ of ['once', 'again']) {
      const reply = await fetch(`http://127.0.0.1:${port}/`)
      expect([reply.status, await reply.json()]).toEqual([
        500,
        { message: 'a file of this page is missing on the server: install forgelet again', url: '', code: 'INTERNAL' },
      ])
    }
    server.closeAllConnections()
    server.close()
  })
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
    const parts = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap(([, part = '']) =>
      part === 'data:,' ? [] : part,
    )

    expect(parts.filter((part) => part.startsWith('/') || part.includes('..'))).toEqual([])
    for (const part of parts)
      expect((await visit(new URL(part, new URL('/api/swagger', running.url)).pathname)).status).toBe(200)
  })

  test('is shown as the package of Swagger UI has it, with its licence beside it', async () => {
    const dist = resolve(import.meta.dirname, '../../dist/swagger-ui')
    for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) {
      const published = await readFile(resolve(import.meta.dirname, '../../node_modules/swagger-ui-dist', name), 'utf8')
      expect((await visit(`/api/swagger/${name}`)).text === published).toBe(true)
    }
    expect(await readFile(join(dist, 'LICENSE'), 'utf8')).toContain('Apache License')
    expect(await readFile(join(dist, 'NOTICE'), 'utf8')).toContain('swagger-ui')
  })

  test.each([
    ['/', 'api/swagger'],
    ['/?x=1', 'api/swagger'],
    ['/api/v1', 'swagger'],
    ['/api/v1?x=1', 'swagger'],
    ['/api/v1/', '../swagger'],
  ])('is where %s leads', async (path, location) => {
    const [get, head, post] = [await visit(path), await visit(path, 'HEAD'), await visit(path, 'POST')]

    expect([get.status, get.headers['location'], get.text]).toEqual([302, location, ''])
    expect([head.status, head.headers['location']]).toEqual([302, location])
    expect([post.status, post.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await fetch(new URL(path, running.url))).url).toBe(new URL('/api/swagger', running.url).href)
  })

  test('with a slash behind leads to where its parts are', async () => {
    const { status, headers } = await visit('/api/swagger/')

    expect([status, headers['location']]).toEqual([308, '../swagger'])
  })

  test.each([
    '/api/swagger/../../package.json',
    '/api/swagger/%2e%2e/%2e%2e/package.json',
    '/api/swagger/..%2f..%2fpackage.json',
    '/api/swagger//etc/passwd',
    '/api/swagger/LICENSE',
    '/api/swagger/swagger-ui.css.map',
    '/api/swagger/constructor',
    '/api/Swagger',
  ])('has no other part: %s', async (path) => {
    const { status, text } = await visit(path)

    expect([status, JSON.parse(text)]).toMatchObject([404, { code: 'ROUTE_NOT_FOUND' }])
  })
})
