/**
 * The part of a `node:http` or `node:http2` request that the adapter uses, as in Node. The requests of frameworks that
 * extend it fit as well.
 */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly httpVersion: string
  readonly headers: {
    /** Node never makes a list of it. */
    readonly authorization?: string | undefined
    readonly [name: string]: string | readonly string[] | undefined
  }
  /** What a body parser of the host left here. The adapter takes it unchanged. */
  readonly body?: unknown
  readonly readableDidRead: boolean
  /** Whether the whole request has arrived. */
  readonly complete: boolean
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
