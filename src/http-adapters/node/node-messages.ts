/** What is used of a `node:http` request, or of any framework's that is one. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Default 1. */
  readonly httpVersionMajor?: number | undefined
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** What a body parser of the host's left here is taken as it is. */
  readonly body?: unknown
  readonly readableDidRead?: boolean | undefined
  readonly readableEnded?: boolean | undefined
  readonly destroyed?: boolean | undefined
  /** Whether all of it has arrived. */
  readonly complete?: boolean | undefined
  /** Node’s own. */
  destroy?(): unknown
  /** Node’s own. */
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** What is used of a `node:http` response, or of any framework's that is one. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly destroyed?: boolean | undefined
  /** Node’s own; tells what the host has set. */
  getHeader?(name: string): string | number | readonly string[] | undefined
  /** Node’s own. */
  setHeader(name: string, value: string | number | readonly string[]): unknown
  /** Node’s own. */
  removeHeader?(name: string): void
  /** Node’s own. */
  flushHeaders?(): void
  /** Node’s own. */
  write?(chunk: unknown): unknown
  /** Node’s own. */
  end(chunk?: unknown): unknown
  /** Node’s own. */
  destroy?(): unknown
  /** Node’s own. */
  on(event: string, listener: (argument?: unknown) => void): unknown
}
