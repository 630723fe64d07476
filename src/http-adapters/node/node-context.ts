import { joined, limited, parsedStream } from '../routes/body.ts'
import { bodyTooLarge } from '../routes/error-status.ts'
import type { ApiRequest, Target } from '../routes/messages.ts'

/**
 * The part of a `node:http` or `node:http2` request that the adapter uses, as in Node. The requests of frameworks that
 * extend it fit as well.
 */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The URL before a framework stripped a prefix, as in Express. */
  readonly originalUrl?: string | undefined
  readonly httpVersion: string
  readonly headers: {
    /** Node never makes a list of it. */
    readonly authorization?: string | undefined
    readonly [name: string]: string | readonly string[] | undefined
  }
  /** What a body parser of the host left here. The adapter takes it unchanged. */
  readonly body?: unknown
  readonly readableDidRead: boolean
  /** Whether the whole request has arrived. A request that Fastify or hapi injects has arrived, and does not have it. */
  readonly complete?: boolean | undefined
  /** As in Node. */
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<unknown>
  /** As in Node. */
  resume(): unknown
  /** As in Node. */
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** The part of a socket that the adapter uses, as in Node. */
export interface ResettableSocket {
  /** As in Node. A socket of TLS does not have it. */
  resetAndDestroy?(): unknown
}

/**
 * The part of a `node:http` or `node:http2` response that the adapter uses, as in Node. The responses of frameworks that
 * extend it fit as well.
 */
export interface NodeResponse {
  statusCode: number
  /** As in Node. */
  statusMessage?: string
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly destroyed?: boolean | undefined
  /** The stream of a response of HTTP/2, which has no `destroyed` of its own. */
  readonly stream?: { readonly destroyed?: boolean | undefined } | undefined
  readonly socket?: ResettableSocket | null | undefined
  /** As in Node. */
  getHeader(name: string): string | number | readonly string[] | undefined
  /** As in Node. */
  setHeader(name: string, value: string | number | readonly string[]): unknown
  /** As in Node. */
  removeHeader(name: string): void
  /** As in Node. A response without it gets its headers one by one. */
  getHeaderNames?(): readonly string[]
  /** As in Node. */
  writeHead?(status: number, headers: Readonly<Record<string, string | number>>): unknown
  /** The types of HTTP/2 do not have it. */
  flushHeaders?(): void
  /** As in Node. */
  write(chunk: unknown): unknown
  /** As in Node. */
  end(chunk?: unknown): unknown
  /** As in Node. */
  destroy(error?: Error): unknown
  /** As in Node. */
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** Returns whether nothing can be sent any more: the client has disconnected, or the response was sent whole. */
export function isDestroyed({ destroyed, stream }: NodeResponse): boolean {
  return destroyed ?? stream?.destroyed ?? false
}

/** A Node request as the routes see it. It reads nothing and adds no listener until the routes ask for it. */
export class NodeRequestContext implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #request: NodeRequest
  readonly #response: NodeResponse
  #controller: AbortController | undefined

  constructor(request: NodeRequest, response: NodeResponse, target: Target) {
    this.method = request.method ?? 'GET'
    this.path = target.path
    this.query = target.query
    this.#request = request
    this.#response = response
  }

  header(name: string): string | undefined {
    const { headers } = this.#request
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined) // its name in HTTP/2
    return typeof value === 'object' ? value.join(', ') : value
  }

  body(limit: number): unknown {
    return isParsed(this.#request) ? this.#request.body : joined(this.#unread(limit))
  }

  stream(limit: number): ReturnType<ApiRequest['stream']> {
    return isParsed(this.#request) ? parsedStream(this.#request.body, limit) : this.#unread(limit)
  }

  /** Created on first access: most requests are answered without it. */
  get signal(): AbortSignal {
    this.#controller ??= this.#watch()
    return this.#controller.signal
  }

  get isGone(): boolean {
    return this.#controller?.signal.aborted === true
  }

  /** Aborts the signal: the client has disconnected. Returns the reason. */
  clientGone(): unknown {
    this.#controller ??= this.#watch()
    this.#controller.abort()
    return this.#controller.signal.reason
  }

  #watch(): AbortController {
    const controller = new AbortController()
    const response = this.#response
    const gone = (): void => {
      if (!response.writableEnded) controller.abort()
    }
    if (isDestroyed(response)) gone()
    response.on('close', gone)
    this.#request.on('aborted', gone) // in HTTP/2, a response with unsent bytes does not close
    return controller
  }

  /** @throws WireError `BODY_TOO_LARGE`; TypeError when the host has read the body without leaving it in `request.body`
   */
  #unread(limit: number): AsyncIterable<Uint8Array> {
    const request = this.#request
    if (request.readableDidRead) throw new TypeError('the host has already read this body: leave it in request.body')
    if (Number(request.headers['content-length']) > limit) throw bodyTooLarge(limit)
    return limited(chunksOf(request), limit, () => this.clientGone())
  }
}

/** The chunks of a body. Node discards what is not read of it, so that the client gets its response. */
async function* chunksOf(request: NodeRequest): AsyncGenerator<unknown, void, void> {
  try {
    yield* request.iterator({ destroyOnReturn: false })
  } finally {
    request.resume()
  }
}

/**
 * Whether a body parser of the host has left a value. Some parsers set `body` to null or an empty object although they
 * have read nothing: the bytes are then still unread.
 */
function isParsed({ body, readableDidRead }: NodeRequest): boolean {
  if (body === undefined) return false
  if (readableDidRead || typeof body !== 'object' || Array.isArray(body)) return true
  return Object.keys(body ?? {}).length > 0
}
