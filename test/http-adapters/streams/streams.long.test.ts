import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ApiRequest } from '../../../src/http-adapters/http.ts'
import type { Host, Parser, Running } from '../hosts/host.ts'
import { hosts } from '../hosts/hosts.ts'
import { untouchedNodeHost } from '../hosts/node-host.ts'
import { deferred } from '../node/serve.ts'
import type { Answer, StreamingWorld } from './streaming-world.ts'
import {
  isPieces,
  MEBIBYTE,
  manyTurns,
  Pieces,
  piece,
  streamed,
  streamingWorld,
  streamOf,
  text,
} from './streaming-world.ts'

/** More than the buffers of a connection hold. */
const MANY = 40
/** What may be in the buffers of a connection, in pieces. */
const AHEAD = 20

// Streams over every framework, with real servers and sockets.
describe.each([...hosts, untouchedNodeHost])('$name', (host) => {
  let current: StreamingWorld = streamingWorld(() => text(''))
  let server: Running

  beforeAll(async () => {
    server = await host.start(() => ({ api: current.api, authenticate: () => null }), { prefix: '/a/b' })
  })
  afterAll(() => server.stop())
  beforeEach(() => {
    if (isFetch(host)) quietConsole() // what @hono/node-server prints of a response that broke off
  })

  /** Sends the beginning of a request, which the world answers so. */
  async function begun(answer: Answer, head: string): Promise<Socket> {
    current = streamingWorld(answer)
    const { port } = new URL(server.origin)
    const socket = connect(Number(port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined) // seen where it is read
    await once(socket, 'connect')
    await sent(socket, head)
    return socket
  }

  async function stillAnswers(): Promise<void> {
    const socket = await begun(() => text('still here'), get('1.1', 'Connection: close'))
    expect(bodyOf(await everything(socket)).toString()).toBe('still here')
  }

  describe('a streamed response', () => {
    it('waits for a slow client, and arrives whole', async () => {
      const pieces = new Pieces(MANY)
      const socket = await begun(() => streamed(pieces), get('1.1', 'Connection: close'))
      socket.pause()
      await vi.waitUntil(() => pieces.produced > 1)
      await manyTurns()

      expect(pieces.produced).toBeLessThan(AHEAD)
      expect(isPieces(bodyOf(await everything(socket)), MANY)).toBe(true)
    })

    it('leaves the connection usable', async () => {
      const socket = await begun(
        ({ method }) => (method === 'GET' ? streamed(new Pieces(2)) : text('next')),
        get('1.1') + get('1.1', 'Connection: close').replace('GET', 'DELETE'),
      )
      const bytes = await everything(socket)

      expect(isPieces(bodyOf(bytes).subarray(0, 2 * MEBIBYTE), 2)).toBe(true)
      expect(bytes.subarray(-200).toString()).toContain('next')
    })

    it('of no bytes is a response without any', async () => {
      const socket = await begun(() => streamed(new Pieces(0)), get('1.1', 'Connection: close'))

      expect(bodyOf(await everything(socket))).toHaveLength(0)
    })

    it('ends with the connection of a client that speaks HTTP/1.0', async () => {
      const socket = await begun(() => streamed(new Pieces(3)), get('1.0'))

      expect(isPieces(bodyOf(await everything(socket)), 3)).toBe(true)
    })

    it('to a request that has a body leaves the connection usable', async () => {
      const socket = await begun(
        ({ method }) => (method === 'GET' ? streamed(new Pieces(2)) : text('next')),
        get('1.1', 'Content-Length: 1048576'),
      )
      await sent(socket, piece(0))
      await sent(socket, get('1.1', 'Connection: close').replace('GET', 'DELETE'))

      expect((await everything(socket)).subarray(-200).toString()).toContain('next')
    })

    it('is ended when the client disconnects, and nothing is logged', async () => {
      const pieces = new Pieces(10_000)
      const socket = await begun(() => streamed(pieces), get('1.1'))
      await once(socket, 'data')
      socket.destroy()
      await pieces.returned

      expect(current.logged).toEqual([])
      await stillAnswers()
    })

    it('that fails before its first piece is an error response', async () => {
      const socket = await begun(() => streamed(new Pieces(0, new Error('secret'))), get('1.1', 'Connection: close'))
      const answer = (await everything(socket)).toString()

      expect(answer).toMatch(/^HTTP\/1.1 500 .*"code":"INTERNAL"/s)
      expect(answer).not.toContain('secret')
      expect(current.logged).toMatchObject([{ fields: { error: { message: 'secret' } } }])
    })

    it('that fails later is cut off, and logged once', async () => {
      const socket = await begun(() => streamed(new Pieces(4, new Error('secret'))), get('1.1'))
      const answer = (await everything(socket)).toString('latin1')

      expect(answer).toMatch(/^HTTP\/1.1 200 .*transfer-encoding: chunked/is)
      expect(answer).not.toMatch(/\r\n0\r\n\r\n$/)
      expect(answer).not.toContain('secret')
      expect(current.logged).toMatchObject([{ fields: { error: { message: 'secret' } } }])
      await stillAnswers()
    })

    // A server of Fetch requests resets no connection.
    if (!isFetch(host)) {
      it('that fails later resets the connection of a client that speaks HTTP/1.0', async () => {
        const received = deferred<undefined>()
        const bytes = async function* (): AsyncGenerator<Uint8Array, void, void> {
          yield new Uint8Array(5)
          await received.promise
          throw new Error('secret')
        }
        const socket = await begun(() => streamed(bytes()), get('1.0'))
        const failed = once(socket, 'end').catch((error: unknown) => error)
        await once(socket, 'data') // a client that is reading may take a reset for an end
        received.resolve(undefined)

        expect(await failed).toMatchObject({ code: 'ECONNRESET' })
      })
    }
  })

  describe('a body that is read as a stream', () => {
    it.each(['chunked', 'with a length'])('(%s) arrives whole, and slowly if it is read slowly', async (framing) => {
      const read = deferred<Uint8Array>()
      let taken = 0
      let begin: () => void = () => undefined
      const may = new Promise<void>((resolve) => {
        begin = resolve
      })
      const socket = await begun(
        async (request) => {
          const chunks: Uint8Array[] = []
          for await (const chunk of streamOf(request)) {
            chunks.push(chunk)
            taken += chunk.length
            await may
          }
          read.resolve(Buffer.concat(chunks))
          return text('done')
        },
        framing === 'chunked' ? post('Transfer-Encoding: chunked') : post(`Content-Length: ${MANY * MEBIBYTE}`),
      )
      let accepted = 0
      const sending = (async () => {
        for (let index = 0; index < MANY; index += 1) {
          await sent(socket, framing === 'chunked' ? chunk(piece(index)) : piece(index))
          accepted += 1
        }
        if (framing === 'chunked') await sent(socket, '0\r\n\r\n')
      })()
      await vi.waitUntil(() => taken > 0)
      await manyTurns()
      expect(accepted).toBeLessThan(AHEAD)

      begin()
      await sending
      expect(isPieces(await read.promise, MANY)).toBe(true)
      expect(bodyOf(await everything(socket)).toString()).toBe('done')
    })

    it.each([
      ['chunked', 'Transfer-Encoding: chunked'],
      ['with a length', `Content-Length: ${3 * MEBIBYTE}`],
    ])('(%s) is 413 beyond the limit, and the connection stays usable', async (framing, header) => {
      const isChunked = framing === 'chunked'
      const socket = await begun(
        async (request) => (request.method === 'POST' ? text(await countOf(request, 2 * MEBIBYTE)) : text('next')),
        post(header, 'Connection: keep-alive'),
      )
      for (let index = 0; index < 3; index += 1) await sent(socket, isChunked ? chunk(piece(index)) : piece(index))
      await sent(socket, (isChunked ? '0\r\n\r\n' : '') + get('1.1', 'Connection: close'))
      const answer = (await everything(socket)).toString()

      expect(answer).toMatch(/^HTTP\/1.1 413 .*"code":"BODY_TOO_LARGE".*HTTP\/1.1 200 .*next/s)
      expect(current.logged).toEqual([])
    })

    it('is accepted at the limit', async () => {
      const socket = await begun(
        async (request) => text(await countOf(request, 2 * MEBIBYTE)),
        post(`Content-Length: ${2 * MEBIBYTE}`),
      )
      for (let index = 0; index < 2; index += 1) await sent(socket, piece(index))

      expect(bodyOf(await everything(socket)).toString()).toBe(String(2 * MEBIBYTE))
    })

    it('and not to its end leaves the connection usable', async () => {
      const socket = await begun(
        async (request) => {
          if (request.method !== 'POST') return text('next')
          for await (const chunk of streamOf(request)) if (chunk.length > 0) break
          return text('enough')
        },
        post(`Content-Length: ${3 * MEBIBYTE}`, 'Connection: keep-alive'),
      )
      for (let index = 0; index < 3; index += 1) await sent(socket, piece(index))
      await sent(socket, get('1.1', 'Connection: close'))

      expect((await everything(socket)).toString()).toMatch(/^HTTP\/1.1 200 .*enough.*HTTP\/1.1 200 .*next/s)
    })

    it('ends with the abort reason when the client disconnects, and nothing is logged', async () => {
      const over = deferred<unknown>()
      let taken = 0
      const socket = await begun(
        async (request) => {
          try {
            for await (const chunk of streamOf(request)) taken += chunk.length
            return text('whole')
          } catch (error) {
            over.resolve([error === request.signal?.reason, request.signal?.aborted])
            throw error
          }
        },
        post(`Content-Length: ${3 * MEBIBYTE}`),
      )
      await sent(socket, piece(0))
      await vi.waitUntil(() => taken > 0)
      socket.destroy()

      expect(await over.promise).toEqual([true, true])
      expect(current.logged).toEqual([])
      await stillAnswers()
    })

    it('ends with the abort reason when the client has disconnected before the first read', async () => {
      const over = deferred<unknown>()
      const begins = deferred<undefined>()
      const gone = deferred<undefined>()
      const socket = await begun(
        async (request) => {
          const bytes = streamOf(request)
          begins.resolve(undefined)
          await gone.promise
          try {
            for await (const _ of bytes);
            return text('whole')
          } catch (error) {
            over.resolve([error === request.signal?.reason, request.signal?.aborted])
            throw error
          }
        },
        post(`Content-Length: ${3 * MEBIBYTE}`),
      )
      await begins.promise
      socket.destroy()
      setTimeout(() => gone.resolve(undefined), 100) // the server has noticed by then

      expect(await over.promise).toEqual([true, true])
      expect(current.logged).toEqual([])
    })

    it('is read from a client that speaks HTTP/1.0', async () => {
      const head = post(`Content-Length: ${MEBIBYTE}`).replace('HTTP/1.1', 'HTTP/1.0')
      const socket = await begun(async (request) => text(await countOf(request)), head)
      await sent(socket, piece(0))

      expect(bodyOf(await everything(socket)).toString()).toBe(String(MEBIBYTE))
    })

    it('may answer while it is read', async () => {
      const socket = await begun(
        async (request) => streamed(streamOf(request)),
        post(`Content-Length: ${3 * MEBIBYTE}`, 'Connection: close'),
      )
      const answer = everything(socket)
      for (let index = 0; index < 3; index += 1) await sent(socket, piece(index))

      expect(isPieces(bodyOf(await answer), 3)).toBe(true)
    })
  })
})

// A parser that stands before the API has read the body.
describe.each(hosts.filter(({ hasParsers }) => hasParsers))('$name, behind a body parser', (host) => {
  async function given(before: Parser, body: string, type: string, limit = MEBIBYTE): Promise<unknown> {
    const taken = deferred<unknown>()
    const { api } = streamingWorld(async (request) => {
      const stream = request.stream(limit)
      const isBytes = stream !== undefined && Symbol.asyncIterator in stream
      taken.resolve(isBytes ? await countOf(request, limit) : stream)
      return text('done')
    })
    const server = await host.start(() => ({ api, authenticate: () => null }), { prefix: '/a/b', before })
    onTestFinished(() => server.stop())
    const headers = { 'Content-Type': type }
    const answer = await fetch(`${server.origin}/a/b/streams`, { method: 'POST', body, headers })
    return answer.ok ? taken.promise : answer.json()
  }

  it('a list of JSON is taken as it is', async () => {
    expect(await given('json', '[{"number":1},2]', 'application/json')).toEqual([{ number: 1 }, 2])
  })

  it('other JSON is a list of one value', async () => {
    expect(await given('json', '{"number":1}', 'application/json')).toEqual([{ number: 1 }])
  })

  it('bytes are one piece, and limited', async () => {
    expect(await given('raw', 'hello', 'text/plain')).toBe('5')
    expect(await given('raw', 'hello', 'text/plain', 4)).toMatchObject({ code: 'BODY_TOO_LARGE' })
  })

  it('a body that the parser does not read is still a stream', async () => {
    expect(await given('json', 'hello', 'application/octet-stream')).toBe('5')
  })
})

/** The head of a request that is read only. */
function get(version: '1.0' | '1.1', ...headers: readonly string[]): string {
  return `${['GET /a/b/streams HTTP/'.concat(version), 'Host: git.example.com', ...headers].join('\r\n')}\r\n\r\n`
}

/** The head of a request that has a body of JSON, as far as a framework knows. */
function post(...headers: readonly string[]): string {
  const close = headers.some((header) => header.startsWith('Connection')) ? [] : ['Connection: close']
  const type = 'Content-Type: application/octet-stream'
  const lines = ['POST /a/b/streams HTTP/1.1', 'Host: git.example.com', type, ...headers, ...close]
  return `${lines.join('\r\n')}\r\n\r\n`
}

function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

async function countOf(request: ApiRequest, limit?: number): Promise<string> {
  let count = 0
  for await (const bytes of streamOf(request, limit)) count += bytes.length
  return String(count)
}

/** Fulfils when the system has accepted the bytes; also when the connection has ended. */
function sent(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve())
  })
}

/** What arrives until the connection ends, well or not. */
async function everything(socket: Socket): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  try {
    for await (const bytes of socket) chunks.push(bytes)
  } catch {
    // The server has cut the connection.
  }
  return Buffer.concat(chunks)
}

/** The body of the first response. */
function bodyOf(response: Buffer): Buffer {
  const end = response.indexOf('\r\n\r\n')
  const head = response.toString('latin1', 0, end)
  const rest = response.subarray(end + 4)
  if (!/transfer-encoding: chunked/i.test(head)) return rest

  const chunks: Uint8Array[] = []
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at)
    const size = Number.parseInt(rest.toString('latin1', at, line), 16)
    if (!(size > 0)) return Buffer.concat(chunks)
    chunks.push(rest.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

function isFetch({ name }: Host): boolean {
  return name === 'Fetch' || name.startsWith('Hono')
}

function quietConsole(): void {
  const quiet = (['error', 'info'] as const).map((level) => vi.spyOn(console, level).mockReturnValue(undefined))
  onTestFinished(() => {
    for (const one of quiet) one.mockRestore()
  })
}
