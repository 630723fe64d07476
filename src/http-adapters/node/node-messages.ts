/** The part of a `node:http` request that the adapter uses. The requests of frameworks that extend it fit as well. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Default: 1. */
  readonly httpVersionMajor?: number | undefined
  /** Default: `1.1`. */
  readonly httpVersion?: string | undefined
  readonly headers: {
    /** Node never makes a list of it. */
    readonly authorization?: string | undefined
    readonly [name: string]: string | readonly string[] | undefined
  }
  /** What a body parser of the host left here. The adapter takes it unchanged. */
  readonly body?: unknown
  readonly readableDidRead?: boolean | undefined
  readonly readableEnded?: boolean | undefined
  readonly destroyed?: boolean | undefined
  /** Whether the whole request has arrived. */
  readonly complete?: boolean | undefined
  /** As in Node. */
  destroy?(): unknown
  /** As in Node. Without it and `resume`, a body that is streamed is received faster than it is used. */
  pause?(): unknown
  /** As in Node. */
  resume?(): unknown
  /** As in Node. */
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** The part of a socket that the adapter uses. */
export interface ResettableSocket {
  /** As in Node. */
  resetAndDestroy?(): unknown
}

/** The part of a `node:http` response that the adapter uses. The responses of frameworks that extend it fit as well. */
export interface NodeResponse {
  statusCode: number
  /** As in Node. `''` is that of the status. */
  statusMessage?: string | undefined
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly destroyed?: boolean | undefined
  /** The stream of a response of HTTP/2, which has no `destroyed` of its own. */
  readonly stream?: { readonly destroyed?: boolean | undefined } | undefined
  /** As in Node. Returns a header that the host has set. */
  getHeader?(name: string): string | number | readonly string[] | undefined
  /** As in Node. Returns the names of the headers that the host has set, in lower case. */
  getHeaderNames?(): readonly string[]
  /** As in Node. */
  setHeader(name: string, value: string | number | readonly string[]): unknown
  /** As in Node. */
  removeHeader?(name: string): void
  /** As in Node. Called without headers if they are already set. Without it, the adapter sets each with `setHeader`. */
  writeHead?(status: number, headers?: Record<string, string | number>): unknown
  /** As in Node. */
  flushHeaders?(): void
  /** As in Node. */
  write?(chunk: unknown): unknown
  /** As in Node. */
  end(chunk?: unknown): unknown
  /** As in Node. */
  destroy?(error?: Error): unknown
  /** As in Node. */
  readonly socket?: ResettableSocket | null | undefined
  /** As in Node. */
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** Returns whether nothing can be sent any more: the client has disconnected, or the response was sent whole. */
export function isDestroyed({ destroyed, stream }: NodeResponse): boolean {
  return destroyed ?? stream?.destroyed ?? false
}
