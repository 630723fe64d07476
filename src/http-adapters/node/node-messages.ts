/** What is used of a `node:http` request, or of any framework's that is one. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** What a body parser of the host's left here is taken as it is. */
  readonly body?: unknown
  readonly readableDidRead?: boolean | undefined
  readonly readableEnded?: boolean | undefined
  readonly destroyed?: boolean | undefined
  on(event: string, listener: (argument?: unknown) => void): unknown
}

/** What is used of a `node:http` response, or of any framework's that is one. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly destroyed?: boolean | undefined
  getHeader?(name: string): string | number | readonly string[] | undefined
  setHeader(name: string, value: string | number | readonly string[]): unknown
  removeHeader?(name: string): void
  end(chunk?: unknown): unknown
  destroy?(): unknown
  on(event: string, listener: (argument?: unknown) => void): unknown
}
