import { cancel } from '../routes/byte-stream.ts'
import type { Actor, Api } from '../routes/create-api.ts'
import type { ApiResponse, StreamedResponse, Target, TextResponse } from '../routes/messages.ts'
import { isStreamed } from '../routes/messages.ts'
import type { MountOptions } from '../routes/mount-options.ts'
import { afterHandingOver, drain, isSending, isTooMuchToDrop } from './drain-request.ts'
import { NodeRequestContext } from './node-context.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import { isDestroyed } from './node-messages.ts'
import { cutResponse, writeStream } from './write-stream.ts'

/** One mount on a Node server. */
export interface NodeMount<A extends Actor, Req extends NodeRequest> {
  readonly api: Api<A>
  readonly options: MountOptions<A, readonly [request: Req]>
}

/** One request to a Node server. */
export interface NodeContext<Req extends NodeRequest> {
  readonly request: Req
  readonly response: NodeResponse
  /**
   * Passes the request on to the host, for paths that the API does not have. If undefined, the adapter answers those
   * with 404.
   */
  readonly next: ((error?: unknown) => void) | undefined
  /** Undefined if the request is not below the mount point. */
  readonly target: Target | undefined
}

/** Answers one request, or passes it on to the host. Never throws. Nothing that it starts rejects. */
export function serveNode<A extends Actor, Req extends NodeRequest>(
  mount: NodeMount<A, Req>,
  context: NodeContext<Req>,
): void {
  const { request, response, target } = context
  if (response.headersSent || response.writableEnded) return

  const { api, options } = mount
  const { authenticate } = options
  const apiRequest = new NodeRequestContext(request, response, target ?? { path: '/', query: '' })
  const reply = target && api.dispatch(apiRequest, () => authenticate(request), options)
  if (reply === undefined || !('then' in reply)) finish(api, apiRequest, context, reply)
  else reply.then((settled) => finish(api, apiRequest, context, settled))
}

function finish<A extends Actor>(
  api: Api<A>,
  apiRequest: NodeRequestContext,
  context: NodeContext<NodeRequest>,
  reply: ApiResponse | undefined,
): void {
  const { next } = context
  if (reply === undefined && next !== undefined) next()
  else write(api, apiRequest, context, reply ?? api.unmatched(apiRequest))
}

/**
 * Writes a response. If that fails, for example because of an invalid header, it writes a 500; if that fails too, it
 * destroys the response.
 */
function write<A extends Actor>(
  api: Api<A>,
  apiRequest: NodeRequestContext,
  context: NodeContext<NodeRequest>,
  reply: ApiResponse,
): void {
  try {
    if (isStreamed(reply)) void stream(api, apiRequest, context, reply)
    else writeReply(context.request, context.response, reply)
  } catch (error) {
    fail(api, apiRequest, context, error)
  }
}

/** Never rejects. */
async function stream<A extends Actor>(
  api: Api<A>,
  apiRequest: NodeRequestContext,
  context: NodeContext<NodeRequest>,
  reply: StreamedResponse,
): Promise<void> {
  try {
    await sendStream(apiRequest, context, reply)
  } catch (error) {
    fail(api, apiRequest, context, error)
  }
}

function fail<A extends Actor>(
  api: Api<A>,
  apiRequest: NodeRequestContext,
  { request, response }: NodeContext<NodeRequest>,
  error: unknown,
): void {
  const reply = api.failed(apiRequest, error)
  try {
    if (response.headersSent) {
      if (!response.writableEnded) cutResponse(request, response) // nothing would end it
      return
    }
    if (!isMultiplexed(request)) response.statusMessage = '' // that of the head that could not be written
    writeReply(request, response, reply)
  } catch {
    response.destroy?.()
  }
}

/** Headers with list values that the host may have set already: the API's values are appended. */
const LISTS: ReadonlySet<string> = new Set(['Access-Control-Expose-Headers', 'Link'])

/**
 * Writes a response. It replaces headers that the host has set only if the response has them too. It does nothing if
 * the host has already started the response or the client has disconnected.
 */
function writeReply(request: NodeRequest, response: NodeResponse, reply: TextResponse): void {
  if (isTaken(response)) return

  const names = response.getHeaderNames?.()
  if (isSending(request)) {
    writeHeaders(response, reply, names)
    writeEarly(request, response, reply.body)
  } else if (names?.length === 0 && isOriginal(response)) {
    writeAtOnce(response, reply)
  } else {
    writeHeaders(response, reply, names)
    if (reply.body === undefined) endWithoutBody(response, reply)
    else response.end(reply.body)
  }
}

/** Ends a response that has no body. Writes the head first: otherwise Node holds it back to send it together with a body. */
function endWithoutBody(response: NodeResponse, { status }: TextResponse): void {
  if (isOriginal(response)) response.writeHead(status)
  response.end()
}

/**
 * Whether the host has already started the response, or the client has disconnected. A response that has ended was
 * started or is destroyed.
 */
function isTaken(response: NodeResponse): boolean {
  return response.headersSent || isDestroyed(response)
}

/**
 * Whether the response has `writeHead`, and the host has replaced neither it nor `end`. Middleware for compression,
 * sessions or logging does, to change the head, and some of it expects headers that were set one by one.
 */
function isOriginal(response: NodeResponse): response is NodeResponse & Required<Pick<NodeResponse, 'writeHead'>> {
  if (response.writeHead === undefined) return false
  return !Object.hasOwn(response, 'writeHead') && !Object.hasOwn(response, 'end')
}

/** The length of a text in UTF-8. `Buffer` counts without encoding; Deno has it since version 2.4. */
function byteLength(text: string): number {
  return typeof Buffer === 'undefined' ? new TextEncoder().encode(text).length : Buffer.byteLength(text)
}

/** Writes the head in one piece. Each header that is set by itself is checked and stored, and costs as much as a route. */
function writeAtOnce(
  response: Required<Pick<NodeResponse, 'writeHead'>> & NodeResponse,
  { status, headers, body }: TextResponse,
): void {
  const head: Record<string, string | number> = {}
  for (const [name, value] of headers) head[name] = value
  if (body !== undefined) head['Content-Length'] = byteLength(body)
  response.writeHead(status, head)
  if (body === undefined) response.end()
  else response.end(body)
}

/**
 * Sets the status and the headers.
 *
 * @param names - the names of the headers that the host has set, in lower case; undefined if they are not known.
 * Comparing them is faster than calling the response: Express changes the prototype of every response, and V8 then caches
 * no access to it.
 */
function writeHeaders(
  response: NodeResponse,
  { status, headers, body }: ApiResponse,
  names: readonly string[] | undefined,
): void {
  response.statusCode = status
  if (body === undefined && mayHave(names, 'Content-Type')) response.removeHeader?.('Content-Type')
  if (typeof body !== 'string' && mayHave(names, 'Content-Length')) response.removeHeader?.('Content-Length')
  for (const [name, value] of headers) {
    response.setHeader(name, LISTS.has(name) && mayHave(names, name) ? added(response, name, value) : value)
  }
}

function mayHave(names: readonly string[] | undefined, name: string): boolean {
  return names?.includes(name.toLowerCase()) ?? true
}

function added(response: NodeResponse, name: string, value: string): string {
  const before = response.getHeader?.(name)
  if (before === undefined) return value
  return typeof before === 'object' ? [...before, value].join(', ') : `${before}, ${value}`
}

/** Since HTTP/2, a connection carries several requests at once, and the header `Connection` does not exist. */
function isMultiplexed({ httpVersionMajor = 1 }: NodeRequest): boolean {
  return httpVersionMajor > 1
}

/**
 * Sends the whole response at once. The response ends when the client has sent everything, or when the adapter cuts the
 * request off.
 */
function writeEarly(request: NodeRequest, response: NodeResponse, body: string | undefined): void {
  announceClose(request, response)
  if (body === undefined) {
    response.flushHeaders?.()
  } else {
    const bytes = new TextEncoder().encode(body)
    response.setHeader('Content-Length', bytes.length)
    response.write?.(bytes)
  }

  endWith(request, response)
}

function announceClose(request: NodeRequest, response: NodeResponse): void {
  if (isTooMuchToDrop(request) && !isMultiplexed(request)) response.setHeader('Connection', 'close')
}

/** Ends a response when the client has sent everything, or when the adapter cuts the request off. */
function endWith(request: NodeRequest, response: NodeResponse): void {
  const ended = (): void => {
    if (!response.writableEnded) response.end()
  }
  const cut = (): void => {
    afterHandingOver(response, () => request.destroy?.()) // by then, the response would no longer hold the socket
    ended()
  }
  drain(request, { ended, cut })
}

/** Sends a body while it is produced. Ends the bytes if they are not sent to the end. */
async function sendStream(
  apiRequest: NodeRequestContext,
  { request, response }: NodeContext<NodeRequest>,
  reply: StreamedResponse,
): Promise<void> {
  const bytes = reply.body[Symbol.asyncIterator]()
  let outcome: 'written' | 'client gone' | undefined
  try {
    if (isTaken(response)) return
    writeHeaders(response, reply, response.getHeaderNames?.())
    if (isSending(request)) announceClose(request, response)
    outcome = await writeStream(request, response, bytes, () => apiRequest.clientGone())
  } finally {
    if (outcome === undefined) cancel(bytes)
  }
  if (outcome === 'client gone') cutResponse(request, response)
  else if (isSending(request)) endWith(request, response)
  else response.end()
}
