import type { Actor, Api } from '../routes/create-api.ts'
import type { Authenticate, DispatchOptions } from '../routes/dispatch.ts'
import type { ApiRequest, ApiResponse, Target } from '../routes/messages.ts'
import { afterHandingOver, drain, isSending, isTooMuchToDrop } from './drain-request.ts'
import { NodeRequestContext } from './node-context.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/** One request on its way through a Node server. */
export interface NodeContext<A extends Actor> {
  readonly request: NodeRequest
  readonly response: NodeResponse
  /** The host's way on, for paths that are not ours; undefined: we answer those too. */
  readonly next: (() => void) | undefined
  /** Undefined: not below the mount point. */
  readonly target: Target | undefined
  readonly authenticate: Authenticate<A>
  readonly options: DispatchOptions
}

/** Answers one request, or lets the host go on. Never throws; nothing it starts rejects. */
export function serveNode<A extends Actor>(api: Api<A>, visit: NodeContext<A>): void {
  const { request, response, next, target, authenticate, options } = visit
  if (response.headersSent || response.writableEnded) return

  const exchange = new NodeRequestContext(request, response, target ?? { path: '/', query: '' })
  const reply = target === undefined ? undefined : api.dispatch(exchange, authenticate, options)
  const finish = (settled: ApiResponse | undefined): void => {
    if (settled === undefined && next !== undefined) next()
    else write(api, exchange, visit, settled ?? api.unmatched(exchange))
  }
  if (reply === undefined || !('then' in reply)) finish(reply)
  else reply.then(finish)
}

/** A reply that cannot be written, for example with a header that is not allowed, becomes a 500; if that fails too, the end. */
function write<A extends Actor>(
  api: Api<A>,
  exchange: ApiRequest,
  { request, response }: NodeContext<A>,
  reply: ApiResponse,
): void {
  try {
    writeReply(request, response, reply)
  } catch (error) {
    writeFailure(request, response, api.failed(exchange, error))
  }
}

function writeFailure(request: NodeRequest, response: NodeResponse, reply: ApiResponse): void {
  try {
    writeReply(request, response, reply)
  } catch {
    response.destroy?.()
  }
}

/** Lists that the host may have begun: ours are added to them. */
const LISTS: ReadonlySet<string> = new Set(['Access-Control-Expose-Headers', 'Link'])
const OF_A_BODY: readonly string[] = ['Content-Type', 'Content-Length']

/**
 * Writes a reply. Headers that the host has set stay, but for those that this reply has too. A response that the host has
 * begun, or whose client is gone, is left alone.
 */
function writeReply(request: NodeRequest, response: NodeResponse, reply: ApiResponse): void {
  if (response.headersSent || response.writableEnded || response.destroyed === true) return

  response.statusCode = reply.status
  writeHeaders(response, reply)
  if (isSending(request)) writeEarly(request, response, reply.body)
  else if (reply.body === undefined) response.end()
  else response.end(reply.body)
}

function writeHeaders(response: NodeResponse, { headers, body }: ApiResponse): void {
  if (body === undefined) for (const name of OF_A_BODY) response.removeHeader?.(name)
  for (const [name, value] of headers) {
    response.setHeader(name, LISTS.has(name) ? added(response, name, value) : value)
  }
}

function added(response: NodeResponse, name: string, value: string): string {
  const before = response.getHeader?.(name)
  if (before === undefined) return value
  return typeof before === 'object' ? [...before, value].join(', ') : `${before}, ${value}`
}

/** From HTTP/2 on the connection is for other requests too, and there is no such header. */
function isMultiplexed({ httpVersionMajor = 1 }: NodeRequest): boolean {
  return httpVersionMajor > 1
}

/** The answer goes out whole at once; the response ends when the client has sent all it had to send, or is cut off. */
function writeEarly(request: NodeRequest, response: NodeResponse, body: string | undefined): void {
  if (isTooMuchToDrop(request) && !isMultiplexed(request)) response.setHeader('Connection', 'close')
  if (body === undefined) {
    response.flushHeaders?.()
  } else {
    const bytes = new TextEncoder().encode(body)
    response.setHeader('Content-Length', bytes.length)
    response.write?.(bytes)
  }

  const ended = (): void => {
    if (!response.writableEnded) response.end()
  }
  const cut = (): void => {
    afterHandingOver(response, () => request.destroy?.()) // the response would lose its hold on the socket by then
    ended()
  }
  drain(request, { ended, cut })
}
