import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { generateKey } from '../../src/signing-keys/signing-keys.ts'
import type { Running, Served } from './command.ts'
import { runCommand, runInProcess, serveInProcess, startServe } from './command.ts'

// Real child processes of dist/cli.js, where a process matters: its signals, its exit code, its data. What the options change, in this
// process.

const WORLD = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }, { username: 'sam' }],
  organizations: [{ name: 'acme', owners: ['alice'], blocks: [{ user: 'sam', note: 'spam' }] }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [1, 2, 3].map((index) => ({ index, title: `Issue ${index}`, poster: 'alice' })),
      pins: [2],
    },
  ],
  badges: [{ slug: 'owl', holders: ['sam'] }],
}

let folder: string
let running: Running | undefined
let served: Served | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-serve-'))
  await writeFile(join(folder, 'world.json'), JSON.stringify(WORLD))
})

afterEach(async () => {
  await running?.stop('SIGKILL')
  running = undefined
  await served?.stop()
  served = undefined
  await rm(folder, { recursive: true })
})

async function serve(...args: readonly string[]): Promise<string> {
  running = await startServe(folder, args)
  return running.url
}

async function serveHere(...args: readonly string[]): Promise<string> {
  served = await serveInProcess(folder, args)
  return served.url
}

const headers = { authorization: 'token alice-token' }

/** The API page, as errors name it. */
function pageOf(url: string): string {
  return new URL('/api/swagger', url).href
}

async function pinned(url: string): Promise<readonly unknown[]> {
  const reply = await fetch(`${url}/repos/acme/rocket/issues/pinned`)
  const issues = (await reply.json()) as readonly { readonly number: number }[]
  return issues.map((issue) => issue.number)
}

describe('forgelet serve', () => {
  test('serves a fixture, stops on SIGTERM with exit code 0, and keeps its data', async () => {
    const url = await serve('--fixture', 'world.json')
    expect(await pinned(url)).toEqual([2])
    expect((await fetch(`${url}/repos/acme/rocket/issues/3/pin`, { method: 'POST', headers })).status).toBe(204)
    expect((await fetch(`${url}/orgs/acme/blocks/sam`, { headers })).status).toBe(204)
    expect(await (await fetch(`${url}/admin/users/sam/badges`, { headers })).json()).toMatchObject([{ slug: 'owl' }])
    expect(await running?.stop()).toMatchObject({ code: 0, out: `${url}\n` })

    const again = await serve()
    expect(await pinned(again)).toEqual([2, 3])
  })

  test('ignores a fixture on a database that has users, and says so on stderr', async () => {
    await serveHere('--fixture', 'world.json')
    await served?.stop()
    await writeFile(join(folder, 'other.json'), JSON.stringify({ users: [{ username: 'eve', tokens: ['eve-token'] }] }))
    const url = await serveHere('--fixture', 'other.json')
    expect(await pinned(url)).toEqual([2])
    const reply = await fetch(`${url}/orgs/acme/blocks`, { headers: { authorization: 'token eve-token' } })
    expect(reply.status).toBe(401)
    expect((await served?.stop())?.err).toContain(
      'fixture other.json ignored: database forgelet.sqlite already has users\n',
    )
  })

  test('serves from memory and leaves nothing behind', async () => {
    const url = await serveHere('--db', ':memory:', '--fixture', 'world.json')
    expect(await pinned(url)).toEqual([2])
    await served?.stop()
    const again = await serveHere('--db', ':memory:')
    expect((await fetch(`${again}/repos/acme/rocket/issues/pinned`)).status).toBe(404)
  })

  test('takes a fixture in YAML', async () => {
    await writeFile(join(folder, 'world.yml'), 'users:\n  - username: "no"\n    siteAdmin: true\n    tokens: [t]\n')
    const url = await serveHere('--db', ':memory:', '--fixture', 'world.yml')
    const reply = await fetch(`${url}/admin/users/NO/badges`, { headers: { authorization: 'Bearer t' } })
    expect([reply.status, await reply.json()]).toEqual([200, []])
  })

  test('serves the signing key that the fixture names, beside the fixture', async () => {
    const { privateKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
    await writeFile(join(folder, 'key'), privateKey)
    await writeFile(join(folder, 'keyed.json'), JSON.stringify({ ...WORLD, signingKey: { file: 'key' } }))
    const url = await serveHere('--fixture', 'keyed.json')
    expect(await (await fetch(`${url}/signing-key.pub`)).text()).toMatch(/^ssh-ed25519 /)
  })

  test('takes another limit of pins', async () => {
    const url = await serveHere('--db', ':memory:', '--fixture', 'world.json', '--max-pins', '1')
    const reply = await fetch(`${url}/repos/acme/rocket/issues/3/pin`, { method: 'POST', headers })
    expect([reply.status, await reply.json()]).toMatchObject([400, { code: 'PIN_LIMIT_REACHED' }])
  })

  test.each([
    ['https://git.example.com', 'https://git.example.com/api/v1'],
    ['https://git.example.com/api/v1/', 'https://git.example.com/api/v1'],
    ['https://example.com/forge', 'https://example.com/forge'],
  ])('links to where it is reached: %s', async (address, root) => {
    const url = await serveHere('--db', ':memory:', '--fixture', 'world.json', '--public-url', address)
    const reply = await fetch(`${url}/repos/acme/rocket/issues/pinned`)
    expect(await reply.json()).toMatchObject([{ url: `${root}/repos/acme/rocket/issues/2` }])
  })

  test('logs what failed in one line, with its causes', async () => {
    const { publicKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
    await writeFile(join(folder, 'key.pub'), publicKey)
    const url = await serveHere('--db', ':memory:', '--signing-key', 'key.pub')
    await writeFile(join(folder, 'key.pub'), 'garbage')
    expect((await fetch(`${url}/signing-key.pub`)).status).toBe(500)
    const { err = '' } = (await served?.stop()) ?? {}
    expect(err.split('\n').filter((line) => line.includes('request failed'))).toEqual([
      expect.stringMatching(/^forgelet: error: request failed \{.*SIGNING_KEY_UNREADABLE.*key\.pub.* \}$/),
    ])
    expect(err.split('\n')).toHaveLength(4) // it says that it serves, and that it stops
  })

  test('with --json and --log-requests, every line of the log is one JSON object', async () => {
    const url = await serveHere('--db', ':memory:', '--fixture', 'world.json', '--log-requests', '--json')
    const { url: api } = JSON.parse(url)
    expect((await fetch(`${api}/orgs/acme/blocks?token=secret`)).status).toBe(401)
    const { err = '' } = (await served?.stop()) ?? {}
    const lines = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    expect(lines).toEqual([
      {
        time,
        level: 'info',
        message: 'request',
        method: 'GET',
        path: '/api/v1/orgs/acme/blocks',
        status: 401,
        milliseconds: expect.any(Number),
      },
      { time, level: 'info', message: expect.stringContaining('stopping') },
    ])
  })

  test.each([
    ['https://git.example.com', 'https://git.example.com/api/swagger'],
    ['https://example.com/git/api/v1', 'https://example.com/git/api/swagger'],
    ['https://example.com/forge', 'https://example.com/api/swagger'],
  ])('names in errors the page where it is reached: %s', async (address, page) => {
    const url = await serveHere('--db', ':memory:', '--public-url', address)
    const replies = await Promise.all(['/orgs/nosuch/blocks', '/nothing'].map((path) => fetch(`${url}${path}`)))
    for (const reply of replies) expect(await reply.json()).toMatchObject({ url: page })
  })

  test('prints one JSON line with --json', async () => {
    const first = await serve('--db', ':memory:', '--fixture', 'world.json', '--json')
    expect(JSON.parse(first)).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/),
      db: ':memory:',
      fixture: 'loaded',
    })
    const log = expect.stringMatching(/^\{"time":"[^"]+","level":"info","message":"stopping [^\n]*\}\n$/)
    expect(await running?.stop('SIGINT')).toEqual({ code: 0, out: `${first}\n`, err: log })
  })

  test('finishes the request under way before it stops', async () => {
    const url = await serve('--db', ':memory:', '--fixture', 'world.json')
    const body = JSON.stringify({ badge_slugs: ['owl'] })
    const slow = request(`${url}/admin/users/alice/badges`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': String(body.length) },
    })
    const status = new Promise((resolve, reject) => {
      slow.on('response', (response) => resolve(response.statusCode))
      slow.on('error', reject)
    })
    await new Promise((resolve) => slow.write(body.slice(0, 5), resolve))
    // Answered on another connection: by now the server has taken the first request's head.
    await fetch(`${url}/version`)
    const stopped = running?.stop()
    slow.end(body.slice(5))
    expect(await status).toBe(204)
    expect(await stopped).toMatchObject({ code: 0 })
  })
})

// One server for all of these: they change nothing.
describe('forgelet serve', () => {
  let url: string

  beforeAll(async () => {
    const place = await mkdtemp(join(tmpdir(), 'forgelet-serve-'))
    await writeFile(join(place, 'world.json'), JSON.stringify(WORLD))
    const server = await startServe(place, ['--db', ':memory:', '--fixture', 'world.json'])
    url = server.url
    return async () => {
      await server.stop()
      await rm(place, { recursive: true })
    }
  })

  test.each([
    ['token in any case', 'tOkEn alice-token', 200],
    ['Bearer', 'Bearer alice-token', 200],
    ['Basic, the token as user name', `Basic ${btoa('alice-token:')}`, 200],
    ['Basic, the token as password', `basic ${btoa('alice:alice-token')}`, 200],
    ['a wrong token', 'token nope', 401],
    ['Basic with a password', `Basic ${btoa('alice:secret')}`, 401],
    ['a malformed header', 'token', 401],
  ])('takes credentials: %s', async (_, authorization, status) => {
    const reply = await fetch(`${url}/orgs/acme/blocks`, { headers: { authorization } })
    expect(reply.status).toBe(status)
  })

  test('states the version of the API it follows', async () => {
    const reply = await fetch(`${url}/version`)
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { version: expect.stringMatching(/^1\.26\.4\+forgelet-\d+\.\d+\.\d+$/) },
    ])
    const wrong = await fetch(`${url}/version`, { method: 'POST' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await fetch(`${url}/version/?x=1`)).status).toBe(200)
  })

  test.each([
    ['/version', 200],
    ['/nothing', 404],
  ])('answers HEAD %s as GET, without the body', async (path, status) => {
    const length = String((await (await fetch(`${url}${path}`)).text()).length)
    const reply = await fetch(`${url}${path}`, { method: 'HEAD' })
    expect([reply.status, reply.headers.get('content-length')]).toEqual([status, length])
  })

  test('takes the whole address of a proxy, its scheme in any case', async () => {
    const status = new Promise((resolve) =>
      request(url, { path: 'HTTP://Forge.example.com/api/v1/version' }, (reply) => resolve(reply.statusCode)).end(),
    )
    expect(await status).toBe(200)
  })

  test.each(['/api', '/api/v1/nothing', '/API/V1/version', '/api/v1/Version', '/elsewhere'])(
    'answers %s with a JSON 404',
    async (path) => {
      const reply = await fetch(new URL(path, url))
      expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json;charset=utf-8'])
      expect(await reply.json()).toEqual({ message: 'not found', code: 'ROUTE_NOT_FOUND', url: pageOf(url) })
    },
  )
})

describe('forgelet', () => {
  test('shows its help', async () => {
    const { code, out, err } = await runCommand(folder, ['--help'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('forgelet serve [options]')
  })

  test('shows the help of serve, with every option', async () => {
    const { code, out } = await runInProcess(folder, ['serve', '-h'])
    expect(code).toBe(0)
    const options = [
      'db',
      'prefix',
      'schema',
      'fixture',
      'host',
      'port',
      'signing-key',
      'max-pins',
      'public-url',
      'shutdown-timeout',
      'log-requests',
      'json',
      'help',
      'version',
    ]
    for (const option of options) expect(out).toMatch(new RegExp(`^  --${option}[ ,]`, 'm'))
    expect(out.split('\n').every((line) => line.length <= 100)).toBe(true)
  })

  test.each(['schema', 'openapi'])('shows the help of %s in lines that fit', async (command) => {
    const { code, out } = await runInProcess(folder, [command, '--help'])
    expect([code, out]).toEqual([0, expect.stringContaining(`forgelet ${command} `)])
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  test('shows its version', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(await runCommand(folder, ['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
  })
})
