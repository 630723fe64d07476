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
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<unknown>
  resume(): unknown
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** The part of a socket that the adapter uses, as in Node. */
export interface ResettableSocket {
  resetAndDestroy?(): unknown
}

/**
 * The part of a `node:http` or `node:http2` response that the adapter uses, as in Node. The responses of frameworks that
 * extend it fit as well.
 */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly destroyed?: boolean | undefined
  /** The stream of a response of HTTP/2, which has no `destroyed` of its own. */
  readonly stream?: { readonly destroyed?: boolean | undefined } | undefined
  readonly socket?: ResettableSocket | null | undefined
  getHeader(name: string): string | number | readonly string[] | undefined
  setHeader(name: string, value: string | number | readonly string[]): unknown
  removeHeader(name: string): void
  /** The types of HTTP/2 do not have it. */
  flushHeaders?(): void
  write(chunk: unknown): unknown
  end(chunk?: unknown): unknown
  destroy(error?: Error): unknown
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** Returns whether nothing can be sent any more: the client has disconnected, or the response was sent whole. */
export function isDestroyed({ destroyed, stream }: NodeResponse): boolean {
  return destroyed ?? stream?.destroyed ?? false
}
