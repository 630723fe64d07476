import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { generateKey } from '../../src/signing-keys/signing-keys.ts'
import { freePort } from '../http.ts'
import type { Running } from '../start-forgelet.ts'
import { newFolder, startForgelet, startForgeletProcess } from '../start-forgelet.ts'
import { pinned, WORLD } from './small-world.ts'

const headers = { authorization: 'token alice-token' }

let folder: string

beforeEach(async () => {
  folder = await newFolder()
})

/** Serves in this process; the working directory is the folder. */
function serve(...args: readonly string[]): Promise<Running> {
  return startForgelet(args, { folder })
}

/** Serves the world from memory, in this process. */
function serveWorld(...args: readonly string[]): Promise<Running> {
  return startForgelet(['--db', ':memory:', ...args], { folder, fixture: WORLD })
}

describe('a process of forgelet serve', () => {
  test('serves a fixture, stops on SIGTERM with exit code 0, and keeps its data', async () => {
    const { url, stop } = await startForgeletProcess([], { folder, fixture: WORLD })
    expect(await pinned(url)).toEqual([2])
    expect((await fetch(`${url}/repos/acme/rocket/issues/3/pin`, { method: 'POST', headers })).status).toBe(204)
    expect((await fetch(`${url}/orgs/acme/blocks/sam`, { headers })).status).toBe(204)
    expect(await (await fetch(`${url}/admin/users/sam/badges`, { headers })).json()).toMatchObject([{ slug: 'owl' }])
    expect(await stop()).toMatchObject({ code: 0, out: `${url}\n` })

    const again = await serve()
    expect(await pinned(again.url)).toEqual([2, 3])
  })

  test('prints one JSON line with --json, and stops on SIGINT', async () => {
    const { url: first, stop } = await startForgeletProcess(['--db', ':memory:', '--json'], { fixture: WORLD })
    expect(JSON.parse(first)).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/),
      db: ':memory:',
      fixture: 'loaded',
    })
    const log = expect.stringMatching(/^\{"time":"[^"]+","level":"info","message":"stopping [^\n]*\}\n$/)
    expect(await stop('SIGINT')).toEqual({ code: 0, out: `${first}\n`, err: log })
  })

  test('serves on, and stops as asked, when the readers of its output have gone', async () => {
    const port = await freePort()
    const command = resolve(import.meta.dirname, '../../dist/cli.js')
    const child = spawn(process.execPath, [command, 'serve', '--db', ':memory:', '--port', String(port)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'exit')
    for (const stream of [child.stdout, child.stderr]) stream.destroy()
    // The first line is written just after the server opens: after two answers it has been written.
    for (let served = 0; served < 2 && child.exitCode === null; ) {
      const reply = await fetch(`http://127.0.0.1:${port}/api/v1/version`).catch(() => undefined)
      served += reply?.status === 200 ? 1 : 0
    }
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })
})

describe('forgelet serve', () => {
  test('says how to create the first user of a file', async () => {
    const { err } = await (await startForgelet(['--db', 'empty.sqlite'], { folder })).stop()
    const advice = 'create one with "forgelet user create NAME --admin", or start with --fixture FILE'
    expect(err).toContain(`database empty.sqlite has no users: ${advice}\n`)
  })

  test('ignores a fixture on a database that has users, and says so on stderr', async () => {
    await (await startForgelet([], { folder, fixture: WORLD })).stop()
    await writeFile(join(folder, 'other.json'), JSON.stringify({ users: [{ username: 'eve', tokens: ['eve-token'] }] }))
    const { url, stop } = await serve('--fixture', 'other.json')
    expect(await pinned(url)).toEqual([2])
    const reply = await fetch(`${url}/orgs/acme/blocks`, { headers: { authorization: 'token eve-token' } })
    expect(reply.status).toBe(401)
    expect((await stop()).err).toContain('fixture other.json ignored: database forgelet.sqlite already has users\n')
  })

  test('answers the preflights of the origins that it is given, and lets their pages read every reply', async () => {
    const [app, other] = ['https://app.example.com', 'http://localhost:8080']
    const { url } = await serveWorld('--cors', app, '--cors', other)
    const send = async (path: string, method: string, origin: string, more: Record<string, string> = {}) => {
      const reply = await fetch(`${url}${path}`, { method, headers: { ...headers, origin, ...more } })
      const cors = [...reply.headers].filter(([name]) => name.startsWith('access-control-allow-') || name === 'vary')
      return [
        reply.status,
        Object.fromEntries(cors.map(([name, value]) => [name.replace('access-control-allow-', ''), value])),
      ]
    }
    const asking = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' }
    const allowed = (origin: string) => ({ vary: 'Origin', origin })

    for (const origin of [app, other]) {
      for (const path of ['/orgs/acme/blocks/sam', '/no/such/path']) {
        expect(await send(path, 'OPTIONS', origin, asking)).toEqual([
          204,
          {
            ...allowed(origin),
            methods: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
            headers: 'Authorization, Content-Type, If-None-Match, User-Agent, X-Gitea-OTP',
          },
        ])
      }
      expect(await send('/repos/acme/rocket/issues/3/pin', 'POST', origin)).toEqual([204, allowed(origin)])
      for (const path of ['/version', '/orgs/acme/blocks', '/repos/acme/rocket/issues/export']) {
        expect(await send(path, 'GET', origin)).toEqual([200, allowed(origin)])
      }
      expect(await send('/no/such/path', 'GET', origin)).toEqual([404, allowed(origin)])
      expect(await send('/orgs/acme/blocks', 'OPTIONS', origin)).toEqual([204, allowed(origin)])
    }
    for (const origin of [
      'https://app.example.com:8443',
      'http://app.example.com',
      'null',
      'https://evil.example.com',
    ]) {
      expect(await send('/orgs/acme/blocks', 'OPTIONS', origin, asking)).toEqual([204, { vary: 'Origin' }])
      expect(await send('/version', 'GET', origin)).toEqual([200, { vary: 'Origin' }])
    }
    const without = await serveWorld()
    const reply = await fetch(`${without.url}/version`, { headers: { origin: app } })
    expect([reply.headers.get('vary'), reply.headers.get('access-control-allow-origin')]).toEqual([null, null])
  })

  test('takes a fixture in YAML', async () => {
    await writeFile(join(folder, 'world.yml'), 'users:\n  - username: "no"\n    siteAdmin: true\n    tokens: [t]\n')
    const { url } = await serve('--db', ':memory:', '--fixture', 'world.yml')
    const reply = await fetch(`${url}/admin/users/NO/badges`, { headers: { authorization: 'Bearer t' } })
    expect([reply.status, await reply.json()]).toEqual([200, []])
  })

  test('serves the signing key that the fixture names, beside the fixture', async () => {
    const { privateKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
    await writeFile(join(folder, 'key'), privateKey)
    await writeFile(join(folder, 'keyed.json'), JSON.stringify({ ...WORLD, signingKey: { file: 'key' } }))
    const { url } = await serve('--fixture', 'keyed.json')
    expect(await (await fetch(`${url}/signing-key.pub`)).text()).toMatch(/^ssh-ed25519 /)
  })

  test('takes another limit of pins', async () => {
    const { url } = await serveWorld('--max-pins', '1')
    const reply = await fetch(`${url}/repos/acme/rocket/issues/3/pin`, { method: 'POST', headers })
    expect([reply.status, await reply.json()]).toMatchObject([400, { code: 'PIN_LIMIT_REACHED' }])
  })

  test.each([
    ['https://git.example.com', 'https://git.example.com/api/v1', 'https://git.example.com/api/swagger'],
    ['https://example.com/git/api/v1/', 'https://example.com/git/api/v1', 'https://example.com/git/api/swagger'],
    ['https://example.com/forge', 'https://example.com/forge', 'https://example.com/api/swagger'],
  ])('links to where it is reached: %s', async (address, root, page) => {
    const { url } = await serveWorld('--public-url', address)
    const reply = await fetch(`${url}/repos/acme/rocket/issues/pinned`)
    expect(await reply.json()).toMatchObject([{ url: `${root}/repos/acme/rocket/issues/2` }])
    for (const path of ['/orgs/nosuch/blocks', '/nothing']) {
      expect(await (await fetch(`${url}${path}`)).json()).toMatchObject({ url: page })
    }
  })

  test('logs what failed in one line, with its causes', async () => {
    const { publicKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
    await writeFile(join(folder, 'key.pub'), publicKey)
    const { url, stop } = await serve('--db', ':memory:', '--signing-key', join(folder, 'key.pub'))
    await writeFile(join(folder, 'key.pub'), 'garbage')
    await expect.poll(async () => (await fetch(`${url}/signing-key.pub`)).status, { timeout: 10_000 }).toBe(500)
    const { err } = await stop()
    expect(err.split('\n').filter((line) => line.includes('request failed'))).toEqual([
      expect.stringMatching(/^forgelet: error: request failed \{.*SIGNING_KEY_UNREADABLE.*key\.pub.* \}$/),
    ])
    expect(err).toContain('database :memory: has no users: start with --fixture FILE\n')
    expect(err).toContain('forgelet: signing key: ssh SHA256:')
    expect(err).toContain('forgelet: error: the signing key has become unreadable')
    expect(err.split('\n')).toHaveLength(7) // it also says that it serves, and that it stops
  })

  test('with --json and --log-requests, every line of the log is one JSON object', async () => {
    const { url, stop } = await serveWorld('--log-requests', '--json')
    expect((await fetch(`${JSON.parse(url).url}/orgs/acme/blocks?token=secret`)).status).toBe(401)
    const lines = (await stop()).err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const path = '/api/v1/orgs/acme/blocks'
    const request = { message: 'request', method: 'GET', path, status: 401, milliseconds: expect.any(Number) }
    expect(lines).toEqual([
      { time, level: 'info', ...request },
      { time, level: 'info', message: expect.stringContaining('stopping') },
    ])
  })
})
