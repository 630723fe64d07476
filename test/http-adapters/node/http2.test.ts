import { once } from 'node:events'
import type { ClientHttp2Session, Http2ServerRequest, IncomingHttpHeaders } from 'node:http2'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Api } from '../../../src/http-adapters/node.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import type { Person } from '../../world.ts'
import { authenticate, openWorld } from '../../world.ts'
import { Pieces, streamed, streamingWorld } from '../streams/streaming-world.ts'

interface Answer {
  readonly status: number | undefined
  readonly text: string
}

function byToken({ headers }: Http2ServerRequest): Person | null {
  return authenticate(headers.authorization)
}

/** Serves a world over HTTP/2 until the test is finished. Gives its origin, and a way to ask. */
async function serve(
  api: Api<Person> = openWorld().api,
  identify: (request: Http2ServerRequest) => Promise<Person | null> | Person | null = byToken,
): Promise<{ readonly origin: string; readonly session: ClientHttp2Session }> {
  const server = createServer(nodeHandler<Person, Http2ServerRequest>(api, { authenticate: identify }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a server that listens on a port has such an address
  const session = connect(origin)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  return { origin, session }
}

async function ask(session: ClientHttp2Session, headers: IncomingHttpHeaders, body = ''): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === '' })
  if (body !== '') stream.end(body)
  const status = new Promise<number | undefined>((resolve) => {
    stream.once('response', (answer) => resolve(answer[':status']))
  })
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
  return { status: await status, text }
}

const PIN = { ':method': 'POST', ':path': '/repos/acme/rocket/issues/1/pin' }
const BADGES = { ':method': 'POST', ':path': '/admin/users/stan/badges' }

describe('over HTTP/2', () => {
  it('a page of our own may request a change without a Host header', async () => {
    const { origin, session } = await serve()

    expect((await ask(session, { ...PIN, origin })).status).toBe(401)
  })

  it('a body that says it is too much ends no connection, and nothing warns of a header for that', async () => {
    const warned = vi.fn()
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const { session } = await serve()
    const stream = session.request({ ...BADGES, 'content-length': '100000000' })
    const headers = await new Promise((resolve) => stream.once('response', resolve))

    expect(headers).toMatchObject({ ':status': 401 })
    expect(warned).not.toHaveBeenCalled()
    expect((await ask(session, { ...PIN, authorization: 'token root' })).status).toBe(204)
  })

  it('a streamed response that fails ends its stream with an error, and no other', async () => {
    const { api, logged } = streamingWorld(() => streamed(new Pieces(3, new Error('secret'))))
    const { session } = await serve(api)
    const stream = session.request({ ':path': '/streams' })
    const failed = once(stream, 'end').catch((error: unknown) => error)
    stream.resume()

    expect(await failed).toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
    expect(logged).toHaveLength(1)
    expect((await ask(session, { ':path': '/elsewhere' })).status).toBe(404)
  })
})
