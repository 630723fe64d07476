import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { KnownHost } from '../../app/testing/testing.ts'
import { mountContract } from '../../app/testing/testing.ts'
import { probeOf } from '../../src/testing/mount-contract/cases/probe.ts'
import { listening } from '../http.ts'
import { HOST_HEADERS, setHostHeaders } from '../http-adapters/hosts.ts'
import type { WorldOptions } from '../world.ts'
import { openWorld } from '../world.ts'
import { caseOver, openKnownWorld, PREFIX } from './known-world.ts'

// Every planted fault is caught by the contract, so that the contract cannot come to prove nothing.

const elsewhere = [`${PREFIX}?x=1&y=%2F`, `${PREFIX}/users/stan?x=1`].map((path) => ({
  path,
  text: `the host: ${path}`,
}))

/** A mounting with a fault: it changes a message on its way to the API, or answers itself. */
type Plant = (
  handle: RequestListener,
  /** To be called when nothing will happen any more: then the case need not wait for its time to be over. */
  hangs: () => void,
) => RequestListener

const changing =
  (change: (request: IncomingMessage, response: ServerResponse) => void): Plant =>
  (handle) =>
  (request, response) => {
    change(request, response)
    handle(request, response)
  }

const rewriting = (rewrite: (url: string) => string): Plant =>
  changing((request) => {
    request.url = rewrite(request.url ?? '')
  })

const answering =
  (isMeant: (request: IncomingMessage) => boolean, status: number, text = '<h1>no</h1>'): Plant =>
  (handle) =>
  (request, response) => {
    if (isMeant(request)) response.writeHead(status, { 'Content-Type': 'text/html' }).end(text)
    else handle(request, response)
  }

/** Reads the bodies before the API does. */
const reading =
  (keep: (request: IncomingMessage, body: string) => void): Plant =>
  (handle, hangs) =>
  (request, response) => {
    if (request.headers['content-length'] === '1000000') hangs() // the body that never comes
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      keep(request, Buffer.concat(chunks).toString())
      handle(request, response)
    })
  }

/** Answers no one after a client has disconnected from a path. */
const endingWith =
  (path: string): Plant =>
  (handle, hangs) => {
    let hasEnded = false
    return (request, response) => {
      if (hasEnded) return hangs()
      hasEnded = request.url?.endsWith(path) === true
      if (!hasEnded) handle(request, response)
    }
  }

const SEGMENT = 'a segment is decoded once, and an encoded slash stays in it'
const QUERY = 'a query reaches the handler, and is decoded once'
const CLOSED = 'a connection stays usable after a missing resource and a wrong method'
const EXPORT = 'an export arrives whole, HEAD without its body, and the connection stays usable'
const ELSEWHERE = 'a change requested by another site is 403'

/** The faults behind "a mounting that", and the case that catches each. */
const PLANTED: readonly (readonly [fault: string, caughtBy: string, plant: Plant])[] = [
  ['decodes slashes', SEGMENT, rewriting((url) => url.replace(/%2F|%5C/, '/'))],
  [
    'drops every slash at the end',
    'one trailing slash or a question mark makes no difference, two slashes do',
    rewriting((url) => url.replace(/\/+$/, '')),
  ],
  [
    'loses the query at its mount root',
    '/a/b?x=1&y=%2F reaches the host',
    rewriting((url) => url.replace(/^\/a\/b\?.*/, PREFIX)),
  ],
  [
    'aborts a request when its body was read',
    'a request is not aborted while its client waits',
    answering(({ method, url }) => method === 'POST' && url?.endsWith('/badges') === true, 500),
  ],
  ['loses queries', QUERY, rewriting((url) => url.replace(/\?.*/, ''))],
  [
    'links to the Host header',
    'links begin with the public address or are relative, whatever the Host header says, and keep the query',
    changing((request, response) => {
      const setHeader = response.setHeader.bind(response)
      response.setHeader = (name, value) =>
        setHeader(
          name,
          name === 'Link' ? `${value}`.replaceAll('https://git.example.com', `http://${request.headers.host}`) : value,
        )
    }),
  ],
  [
    'lets only the headers through that it knows',
    'a page of a list says how many items there are',
    changing((_request, response) => {
      const setHeader = response.setHeader.bind(response)
      response.setHeader = (name, value) => (name === 'X-Total-Count' ? response : setHeader(name, value))
    }),
  ],
  [
    'fails at a strange Host header',
    'a malformed Host header causes no failure',
    answering(({ headers }) => !URL.canParse(`http://${headers.host}`), 500),
  ],
  [
    'says nothing to two Host headers',
    'a request with two Host headers causes no failure',
    (handle, hangs) => (request, response) =>
      request.rawHeaders.filter((name) => name === 'Host').length > 1 ? hangs() : handle(request, response),
  ],
  [
    'gives HEAD a body',
    'HEAD is GET without a body',
    (handle) => (request, response) => {
      handle(request, response)
      if (request.method === 'HEAD') request.socket.write('hello')
    },
  ],
  [
    'takes wrong credentials for none',
    'wrong credentials are 401',
    changing(
      ({ headers }) => headers.authorization !== 'token root' && Reflect.deleteProperty(headers, 'authorization'),
    ),
  ],
  [
    'reports the thrown error',
    'a port that throws is 500 with a requestId, and its message is not shown',
    answering(({ url = '' }) => url.includes('failing'), 500, `<pre>${new Error('password=hunter2').stack}</pre>`),
  ],
  [
    'ends the connection with its 413',
    'a body over the limit is 413, also to a client that reads late',
    (handle) => (request, response) => {
      if (Number(request.headers['content-length'] ?? 0) <= 50_000) return handle(request, response)
      response.writeHead(413, { 'Content-Type': 'application/json;charset=utf-8', Connection: 'close' })
      response.end('{"message":"too long","url":"","code":"BODY_TOO_LARGE"}', () => request.socket.destroy())
    },
  ],
  [
    'takes bodies of every length',
    'a body at the limit is accepted, and one byte more is 413',
    reading((request, body) => Object.assign(request, { body: body === '' ? undefined : JSON.parse(body) })),
  ],
  [
    'reads every body before it asks who sends it',
    'a refusal does not wait for the body',
    reading((request, body) => Object.assign(request, { body })),
  ],
  [
    'reads bodies and keeps nothing of them',
    'a JSON body of any content type is accepted with POST and DELETE',
    reading(() => undefined),
  ],
  [
    'joins the cookies to one',
    'headers that the host sets on every response are present',
    changing((_request, response) => response.setHeader('Set-Cookie', 'host=1, theme=dark')),
  ],
  [
    'lets caches keep what it answers',
    'caches store no response, and browsers do not guess its type',
    changing((_request, response) => {
      const setHeader = response.setHeader.bind(response)
      response.setHeader = (name, value) => (name === 'Cache-Control' ? response : setHeader(name, value))
    }),
  ],
  [
    'answers twice',
    CLOSED,
    changing(({ socket }, response) => {
      response.on('finish', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
    }),
  ],
  [
    'ends the connection where a body is left',
    'a connection stays usable after an unread body',
    changing(({ headers }, response) => {
      if (headers['transfer-encoding'] !== undefined) response.setHeader('Connection', 'close')
    }),
  ],
  [
    'hides that the client is gone',
    'a client that disconnects aborts the signal that the ports receive',
    (handle, hangs) => (request, response) => {
      const on = response.on.bind(response)
      on('close', () => !response.writableFinished && hangs())
      response.on = (event, listener) => (event === 'close' ? response : on(event, listener))
      handle(request, response)
    },
  ],
  [
    'shortens exports',
    EXPORT,
    changing(({ url = '' }, response) => {
      if (!url.endsWith('/export')) return
      const end = response.end.bind(response)
      response.write = () => true
      response.end = () => end('[')
    }),
  ],
  [
    'ends with the client that disconnects during an import',
    'a client that disconnects during an export or an import disturbs no one',
    endingWith('/import?dry_run=true'),
  ],
  [
    'takes compressed bodies for texts',
    'an import that is compressed with gzip is read, also if no header says so',
    reading((request, body) => Object.assign(request, { body })),
  ],
  ['loses Sec-Fetch-Site', ELSEWHERE, changing(({ headers }) => Reflect.deleteProperty(headers, 'sec-fetch-site'))],
  [
    'refuses a foreign origin from every client',
    'a request with its own credentials passes from any site',
    answering(({ headers }) => headers.origin === 'https://elsewhere.example', 403),
  ],
]

/** A case of the contract over a mounting. */
function planted(name: string, plant: Plant, hangs: () => void = () => undefined, world: WorldOptions = {}) {
  const host = (handle: RequestListener): RequestListener => {
    const listener = plant(handle, hangs)
    return (request, response) => {
      setHostHeaders(response)
      listener(request, response)
    }
  }
  return caseOver(name, { world, host, headers: HOST_HEADERS, elsewhere })
}

describe('the contract', () => {
  test.each(PLANTED)('catches a mounting that %s by "%s"', async (_fault, caughtBy, plant) => {
    // The time of a case is over as soon as it is known that it waits in vain.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { run } = await planted(caughtBy, plant, () => setImmediate(() => vi.advanceTimersByTime(10_000)))

    const failure = await run().catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'AssertionError', message: expect.stringMatching(/^sent: .*fix: /s) })
  })

  test('says what was sent, and hides the known credential alone', async () => {
    const everything = answering(() => true, 500)
    const wrong = await planted('wrong credentials are 401', everything)
    await expect(wrong.run()).rejects.toThrow('Authorization: "token forgelet-wrong-token"')
    const right = await planted('a missing body is reported', everything)
    await expect(right.run()).rejects.toThrow('Authorization: (the known one)')
  })
})

test('an API of sessions must name no scheme', async () => {
  const name = 'a request without credentials learns which scheme is expected'
  const over = (plant: Plant) => planted(name, plant, undefined, { credentials: 'session' })
  await (await over((handle) => handle)).run()

  const asking = await over(changing((_request, response) => response.setHeader('WWW-Authenticate', 'Basic')))
  await expect(asking.run()).rejects.toThrow('no WWW-Authenticate header')
})

describe('a case', () => {
  const [first] = mountContract(async () => ({ origin, prefix: PREFIX, stop }))
  let origin = ''
  let stops = 0
  const stop = async (): Promise<void> => {
    stops += 1
  }

  test('reports that no server listens, and stops what was started', async () => {
    const gone = await listening(createServer())
    await gone.stop()
    origin = gone.origin
    stops = 0

    await expect(first?.run()).rejects.toThrow(/^sent: .*received: no complete response to .*ECONNREFUSED.*fix: /s)
    expect(stops).toBe(1)
  })
})

describe('the list of cases', () => {
  const start = () => Promise.reject(new Error('no case of this list is run'))
  const names = (known: KnownHost): readonly string[] => mountContract(start, known).map(({ name }) => name)
  const { known } = openKnownWorld({
    limits: { maxImportBytes: 400_000 },
    publicUrl: 'https://git.example.com/api/v1',
  })
  const all = names({ ...known, headers: HOST_HEADERS, elsewhere })

  test.each([
    'authorization',
    'organization',
    'users',
    'repository',
    'publicUrl',
    'maxImportBytes',
    'failing',
    'waiting',
    'headers',
    'elsewhere',
  ] as const)('leaves out what needs %s if that is missing, and nothing else', (part) => {
    const left = names({ ...known, headers: HOST_HEADERS, elsewhere, [part]: undefined })

    expect(left.length).toBeLessThan(all.length)
    expect(left.filter((name) => !all.includes(name))).toEqual([])
  })

  test('asks only the services that are mounted, and has cases for each alone', () => {
    for (const service of openWorld().forge.services) expect(names({ services: [service] })).not.toEqual([])
    expect(names({ ...known, services: ['pins'] }).filter((name) => name.includes('decoded once'))).toEqual([SEGMENT])
    expect(names({ ...known, services: ['signing-keys'] }).filter((name) => name.includes('403'))).toEqual([])
  })

  test('is refused to a host without services', () => {
    expect(() => names({ services: [] })).toThrow(new TypeError('services must name at least one mounted service'))
  })

  test('needs a service with a path that it can ask for, and names those without', () => {
    const pins = { path: '/repos/{owner}/pins', method: 'POST', tags: ['pins'] }
    const badges = { path: '/users/{username}/badges', method: 'GET', tags: ['badges'] }

    expect(() => probeOf(['pins'], [pins, badges])).toThrow(
      new TypeError(
        'services must name one that has GET on a path with a parameter: mount another service beside pins',
      ),
    )
    expect(probeOf(['pins', 'badges'], [pins, badges]).named('ada')).toBe('/users/ada/badges')
  })

  test.each([
    [['GET'], 'PUT'],
    [['GET', 'PUT', 'DELETE'], 'PATCH'],
  ])('on a path that has %j it asks for %s, which is refused', (methods, refused) => {
    const operations = methods.map((method) => ({ path: '/users/{username}/badges', method, tags: ['badges'] }))
    expect(probeOf(['badges'], operations).refusedMethod).toBe(refused)
  })
})

const functions = { asked: async () => undefined, aborted: async () => undefined }

test.each([
  ['organisation', { organisation: 'acme' }, 'did you mean organization?'],
  ['one user', { users: ['a'] }, 'needs users'],
  ['a repository without its owner', { repository: 'rocket' }, 'needs repository'],
  ['waiting without functions', { waiting: { path: '/x' } }, 'needs waiting.asked'],
  ['waiting without a path', { waiting: { pathh: '/x', ...functions } }, 'waiting.path'],
  ['failing with a text', { failing: { path: '/x', text: 'boom' } }, 'no option failing.text'],
  ['failing without a secret', { failing: { path: '/x' } }, 'needs failing.secret'],
])('mountContract refuses %s', (_what, known, message) => {
  expect(() => mountContract(() => Promise.reject(new Error('not started')), known as never)).toThrow(message)
})

test('a header that differs by request is no fault of a mount', async () => {
  const differing = changing((_request, response) => response.setHeader('X-Request-Id', randomUUID()))
  const { run } = await planted('HEAD is GET without a body', differing)

  await run()
})
