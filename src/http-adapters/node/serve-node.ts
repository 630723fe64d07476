import { Buffer } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Actor, Api } from '../routes/create-api.ts'
import type { ApiResponse, StreamedResponse, Target, TextResponse } from '../routes/messages.ts'
import { below, endOf, isStreamed, MAX_DISCARDED_BYTES, parseTarget, toBase } from '../routes/messages.ts'
import type { MountOptions } from '../routes/mount-options.ts'
import { checkMount } from '../routes/mount-options.ts'
import type { NodeRequest, NodeResponse } from './node-context.ts'
import { isDestroyed, NodeRequestContext } from './node-context.ts'

/** How long a response waits for a client that is still sending, but silent, in milliseconds. */
const MAX_SILENCE_MS = 5000

/** Options for mounting an API on a Node server. */
export type NodeMountOptions<A extends Actor, Req extends NodeRequest> = MountOptions<A, readonly [request: Req]>

/**
 * A listener for `node:http`. With `next` it is a middleware, which calls `next` for paths that the API does not have.
 * The promise fulfils when the response is over, or becomes what `next` returns. Frameworks that answer when the promise
 * of a middleware is fulfilled wait for it (Koa, AdonisJS, hapi); the others need not. It rejects only if `next` fails.
 */
export type NodeHandler<Req extends NodeRequest> = (
  request: Req,
  response: NodeResponse,
  next?: (error?: unknown) => unknown,
) => Promise<unknown>

/**
 * Mounts an API on a Node server: `createServer(nodeHandler(api, { authenticate, basePath: '/api/v1' }))`. The handler
 * is also a middleware for Express 4 and 5, for Connect, and for Fastify (with middie), before and after body parsers.
 * Their `use` strips the mount point: `use('/api/v1', nodeHandler(api, { authenticate }))`. Requests for paths that the
 * API does not have go to `next` when it is given; otherwise they are answered with 404. `forgelet/express` has this
 * function as `expressHandler`. Source: docs/manual/05-mount-it.md
 *
 * @throws TypeError when an option is missing or invalid
 */
export function nodeHandler<A extends Actor, Req extends NodeRequest = NodeRequest>(
  api: Api<A>,
  options: NodeMountOptions<NoInfer<A>, Req>,
): NodeHandler<Req> {
  checkMount('nodeHandler', api, options)
  const { authenticate, crossSite } = options
  const base = toBase(options.basePath)
  const dispatchOptions = { crossSite }

  // Never throws, and rejects only where `next` does.
  return (request, response, next) => {
    if (response.headersSent || response.writableEnded) return Promise.resolve()

    const target = targetOf(request, base)
    const apiRequest = new NodeRequestContext(request, response, target ?? { path: '/', query: '' })
    const reply = target && api.dispatch(apiRequest, () => authenticate(request), dispatchOptions)
    const answering = { api, apiRequest, request, response }
    if (reply !== undefined && 'then' in reply) return finishLater(answering, reply, next)
    return reply === undefined && next !== undefined ? resultOf(next) : finish(answering, reply)
  }
}

/** Sends a reply. Fulfils when the response is over. */
function finish(answering: Answering, reply: ApiResponse | undefined): Promise<unknown> {
  const { api, apiRequest, response } = answering
  const over = isTaken(response) ? Promise.resolve() : new Promise((resolve) => response.on('close', resolve))
  send(answering, reply ?? api.unmatched(apiRequest))
  return over
}

async function finishLater(
  answering: Answering,
  reply: Promise<ApiResponse | undefined>,
  next: (() => unknown) | undefined,
): Promise<unknown> {
  const given = await reply
  return given === undefined && next !== undefined ? next() : finish(answering, given)
}

async function resultOf(next: () => unknown): Promise<unknown> {
  return next()
}

/** What a request asks for below `base`. Frameworks strip a prefix, which may be `base` or more, and keep the whole URL. */
function targetOf({ url = '/', originalUrl }: NodeRequest, base: string): Target | undefined {
  const target = below(base, parseTarget(url))
  return target === undefined && originalUrl !== undefined ? below(base, parseTarget(originalUrl)) : target
}

/** A request while it is answered. */
interface Answering {
  readonly api: Pick<Api<never>, 'failed' | 'unmatched'>
  readonly apiRequest: NodeRequestContext
  readonly request: NodeRequest
  readonly response: NodeResponse
}

function send(answering: Answering, reply: ApiResponse): void {
  try {
    if (isStreamed(reply)) void sendStream(answering, reply)
    else sendText(answering, reply)
  } catch (error) {
    fail(answering, error)
  }
}

/** It does nothing if the host has already started the response or the client has disconnected. */
function sendText({ request, response }: Answering, reply: TextResponse): void {
  if (isTaken(response)) return
  const { body } = reply
  if (!isSending(request)) {
    setHead(response, reply, body === undefined ? 0 : Buffer.byteLength(body))
    response.end(body)
    return
  }
  setHead(response, reply)
  announceClose(request, response)
  if (body !== undefined) response.setHeader('Content-Length', Buffer.byteLength(body))
  response.flushHeaders?.()
  if (body !== undefined) response.write(body)
  end(request, response)
}

/**
 * Sends a body while it is produced: the next piece when the client has taken the one before. Other requests run between
 * two pieces, even if the bytes are produced without waiting. Never rejects.
 */
async function sendStream(answering: Answering, reply: StreamedResponse): Promise<void> {
  const { apiRequest, request, response } = answering
  const { signal } = apiRequest
  const bytes = reply.body[Symbol.asyncIterator]()
  try {
    if (isTaken(response)) return
    setHead(response, reply)
    if (isSending(request)) announceClose(request, response)
    const room = roomIn(response, signal)
    for (;;) {
      const next = await bytes.next()
      signal.throwIfAborted()
      if (next.done === true) break
      const hasRoom = response.write(next.value) !== false
      if (!hasRoom) await room()
      await nextTurn()
    }
    end(request, response)
  } catch (error) {
    if (signal.aborted) cut(request, response)
    else fail(answering, error)
  } finally {
    endOf(bytes)
  }
}

/**
 * Returns a function that waits until a response takes more bytes. It adds one listener for all of them: middleware that
 * compresses passes a listener on to its own stream, and does not remove it there.
 *
 * @throws the reason of the signal when it aborts
 */
function roomIn(response: NodeResponse, signal: AbortSignal): () => Promise<void> {
  let goOn = (): void => undefined
  response.on('drain', () => goOn())
  signal.addEventListener('abort', () => goOn())
  return async () => {
    const woken = new Promise<void>((resolve) => {
      goOn = resolve
    })
    if (!signal.aborted) await woken
    signal.throwIfAborted()
  }
}

/** Answers 500 when a response could not be written, for example because of an invalid header, or cuts what is written of it. */
function fail(answering: Answering, error: unknown): void {
  const { api, apiRequest, request, response } = answering
  const reply = api.failed(apiRequest, error)
  try {
    if (!response.headersSent) {
      if (!isHttp2(request)) response.statusMessage = '' // that of the head that was refused; HTTP/2 has none
      sendText(answering, reply)
    } else if (!response.writableEnded) cut(request, response) // nothing would end it
  } catch {
    response.destroy()
  }
}

/** Whether the host has already started the response, or the client has disconnected. */
function isTaken(response: NodeResponse): boolean {
  return response.headersSent || isDestroyed(response)
}

/** Headers with list values that the host may have set already: the API's values are appended. */
const LISTS: ReadonlySet<string> = new Set(['Access-Control-Expose-Headers', 'Link'])

/**
 * Sets the status and the headers. It replaces headers that the host has set only if the response has them too. Where
 * the host has set none, Node takes all of them in one call, which costs less than a call for each; a method that the
 * host has replaced, to add headers at the end, still finds them open.
 *
 * @param length - of the whole body in bytes, if the head may name it
 */
function setHead(response: NodeResponse, { status, headers, body }: ApiResponse, length?: number): void {
  const isFinal = length !== undefined && !isReplaced(response)
  if (isFinal && response.writeHead !== undefined && response.getHeaderNames?.().length === 0) {
    const head: Record<string, string | number> = {}
    for (const [name, value] of headers) head[name] = value
    if (body !== undefined) head['Content-Length'] = length
    response.writeHead(status, head)
    return
  }
  response.statusCode = status
  if (body === undefined) response.removeHeader('Content-Type')
  if (typeof body !== 'string') response.removeHeader('Content-Length')
  else if (isFinal) response.setHeader('Content-Length', length) // Node has none in HTTP/1.0
  for (const [name, value] of headers) {
    const before = LISTS.has(name) ? response.getHeader(name) : undefined
    response.setHeader(name, before === undefined ? value : [before, value].flat().join(', '))
  }
}

/** Whether the host has replaced a method that writes headers, and may change them or the body there. */
function isReplaced(response: NodeResponse): boolean {
  return Object.hasOwn(response, 'writeHead') || Object.hasOwn(response, 'end')
}

/** Announces that the connection closes, if the client is sending too much. HTTP/2 has no header for that. */
function announceClose(request: NodeRequest, response: NodeResponse): void {
  if (isTooMuch(request) && !isHttp2(request)) response.setHeader('Connection', 'close')
}

/**
 * Ends a response that has been written. While the client is still sending, the end waits: Node may close the connection
 * there, a connection that is closed while bytes arrive is reset, and a client that sends its whole request before it
 * reads would never see the response.
 */
function end(request: NodeRequest, response: NodeResponse): void {
  if (!isSending(request)) {
    response.end()
    return
  }
  const over = (): void => {
    clearTimeout(silence)
    if (!response.writableEnded) response.end()
  }
  const silence = setTimeout(over, MAX_SILENCE_MS).unref()
  for (const event of ['end', 'close']) request.on(event, over)
  if (isTooMuch(request)) return // the client knows that the connection closes, and may stop
  request.on('data', () => silence.refresh())
  request.resume()
}

/** Whether the client is still sending. */
function isSending({ complete, headers }: NodeRequest): boolean {
  return complete === false && (headers['transfer-encoding'] ?? headers['content-length'] ?? '0') !== '0'
}

/** Whether the client announces more than is discarded. */
function isTooMuch({ headers }: NodeRequest): boolean {
  return Number(headers['content-length']) > MAX_DISCARDED_BYTES
}

function isHttp2({ httpVersion }: NodeRequest): boolean {
  return httpVersion.startsWith('2')
}

/**
 * Ends a response so that no client takes it for a complete one. In HTTP/1.0 a response ends where the connection ends,
 * so the connection must be reset: proxies often speak HTTP/1.0 to servers. In HTTP/2 the stream must end with an error.
 */
function cut(request: NodeRequest, response: NodeResponse): void {
  try {
    if (request.httpVersion === '1.0') response.socket?.resetAndDestroy?.()
  } catch {
    // Neither TLS nor a local socket can be reset.
  }
  if (isHttp2(request)) response.destroy(new Error('the response is not complete'))
  else response.destroy()
}
