import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../deferred.ts'
import type { Connection, Running } from '../../http.ts'
import { ask, dial } from '../../http.ts'
import { carriers } from '../hosts.ts'
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

// Streams over the carriers of bytes, with real servers and sockets.

/** More than the buffers of a connection hold. */
const MANY = 28
/** What may be in the buffers of a connection, in pieces. */
const AHEAD = 20

const CLOSE = { Connection: 'close' }

describe.each(carriers)('$name', (host) => {
  let current: StreamingWorld = streamingWorld(() => text(''))
  let server: Running

  beforeAll(async () => {
    server = await host.start(() => current.api, { prefix: '/a/b' })
  })
  afterAll(() => server.stop())
  beforeEach(() => {
    if (host.name === 'Hono') quietConsole() // what @hono/node-server prints of a response that broke off
  })

  /** Sends the beginning of a request, which the world answers so. */
  async function begun(answer: Answer, head: string): Promise<Connection> {
    current = streamingWorld(answer)
    const connection = await dial(server.origin)
    await connection.send(head)
    return connection
  }

  async function stillAnswers(): Promise<void> {
    const connection = await begun(() => text('still here'), ask('GET /a/b/streams', CLOSE))
    expect((await connection.reply()).text).toBe('still here')
  }

  describe('a streamed response', () => {
    it('waits for a slow client, and arrives whole', async () => {
      const pieces = new Pieces(MANY)
      const connection = await begun(() => streamed(pieces), ask('GET /a/b/streams', CLOSE))
      await vi.waitUntil(() => pieces.produced > 1)
      await manyTurns()

      expect(pieces.produced).toBeLessThan(AHEAD)
      expect(isPieces(await body(connection), MANY)).toBe(true)
    })

    it('ends with the connection of a client that speaks HTTP/1.0', async () => {
      const connection = await begun(
        () => streamed(new Pieces(3)),
        ask('GET /a/b/streams').replace('HTTP/1.1', 'HTTP/1.0'),
      )

      expect(isPieces(await body(connection), 3)).toBe(true)
    })

    it('is ended when the client disconnects, and nothing is logged', async () => {
      const pieces = new Pieces(10_000)
      const connection = await begun(() => streamed(pieces), ask('GET /a/b/streams'))
      await once(connection.socket.resume(), 'data')
      connection.socket.destroy()
      await pieces.returned

      expect(current.logged).toEqual([])
      await stillAnswers()
    })

    it('that fails later is cut off, and logged once', async () => {
      const connection = await begun(() => streamed(new Pieces(4, new Error('secret'))), ask('GET /a/b/streams'))
      const answer = (await connection.rest()).toString('latin1')

      expect(answer).toMatch(/^HTTP\/1.1 200 .*transfer-encoding: chunked/is)
      expect(answer).not.toMatch(/\r\n0\r\n\r\n$/)
      expect(answer).not.toContain('secret')
      expect(current.logged).toMatchObject([{ fields: { error: { message: 'secret' } } }])
      await stillAnswers()
    })

    // A server of Fetch requests resets no connection.
    if (host.name !== 'Hono') {
      it('that fails later resets the connection of a client that speaks HTTP/1.0', async () => {
        const received = deferred()
        const bytes = async function* (): AsyncGenerator<Uint8Array, void, void> {
          yield new Uint8Array(5)
          await received.promise
          throw new Error('secret')
        }
        const connection = await begun(() => streamed(bytes()), ask('GET /a/b/streams').replace('HTTP/1.1', 'HTTP/1.0'))
        const failed = once(connection.socket.resume(), 'end').catch((error: unknown) => error)
        await once(connection.socket.resume(), 'data') // a client that is reading may take a reset for an end
        received.resolve()

        expect(await failed).toMatchObject({ code: 'ECONNRESET' })
      })
    }
  })

  describe('a body that is read as a stream', () => {
    it.each(['chunked', 'with a length'])('(%s) arrives whole, and slowly if it is read slowly', async (framing) => {
      const read = deferred<Uint8Array>()
      let taken = 0
      const may = deferred()
      const connection = await begun(
        async (request) => {
          const chunks: Uint8Array[] = []
          for await (const chunk of streamOf(request)) {
            chunks.push(chunk)
            taken += chunk.length
            await may.promise
          }
          read.resolve(Buffer.concat(chunks))
          return text('done')
        },
        framing === 'chunked' ? post({ 'Transfer-Encoding': 'chunked' }) : post(hasLength(MANY * MEBIBYTE)),
      )
      let accepted = 0
      const sending = (async () => {
        for (let index = 0; index < MANY; index += 1) {
          await connection.send(framing === 'chunked' ? chunk(piece(index)) : piece(index))
          accepted += 1
        }
        if (framing === 'chunked') await connection.send('0\r\n\r\n')
      })()
      await vi.waitUntil(() => taken > 0)
      await manyTurns()
      expect(accepted).toBeLessThan(AHEAD)

      may.resolve()
      await sending
      expect(isPieces(await read.promise, MANY)).toBe(true)
      expect((await connection.reply()).text).toBe('done')
    })

    it.each([
      ['while it is read', true],
      ['before the first read', false],
    ])('ends with the abort reason when the client disconnects %s, and nothing is logged', async (_when, isRead) => {
      const [begins, gone, over] = [deferred(), deferred(), deferred<unknown>()]
      const connection = await begun(
        async (request) => {
          const bytes = streamOf(request)
          try {
            if (!isRead) {
              begins.resolve()
              await gone.promise
            }
            for await (const _ of bytes) begins.resolve()
            return text('whole')
          } catch (error) {
            over.resolve([error === request.signal?.reason, request.signal?.aborted])
            throw error
          }
        },
        post(hasLength(3 * MEBIBYTE)),
      )
      if (isRead) await connection.send(piece(0))
      await begins.promise
      connection.socket.destroy()
      setTimeout(() => gone.resolve(), 100) // the server has noticed by then

      expect(await over.promise).toEqual([true, true])
      expect(current.logged).toEqual([])
      await stillAnswers()
    })

    it('may answer while it is read', async () => {
      const connection = await begun(async (request) => streamed(streamOf(request)), post(hasLength(3 * MEBIBYTE)))
      const answer = body(connection)
      for (let index = 0; index < 3; index += 1) await connection.send(piece(index))

      expect(isPieces(await answer, 3)).toBe(true)
    })
  })
})

/** The head of a request that has a body of bytes, and is the last of its connection unless it says something else. */
function post(headers: Readonly<Record<string, string>>): string {
  return ask('POST /a/b/streams', { ...CLOSE, 'Content-Type': 'application/octet-stream', ...headers })
}

function hasLength(size: number): Readonly<Record<string, string>> {
  return { 'Content-Length': String(size) }
}

function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

/** The body of the next response. */
async function body(connection: Connection): Promise<Uint8Array> {
  return Buffer.from((await connection.reply()).text)
}

function quietConsole(): void {
  const quiet = (['error', 'info'] as const).map((level) => vi.spyOn(console, level).mockReturnValue(undefined))
  onTestFinished(() => {
    for (const one of quiet) one.mockRestore()
  })
}
