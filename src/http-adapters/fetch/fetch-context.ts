import { joined, limited } from '../routes/body.ts'
import { bodyTooLarge } from '../routes/error-status.ts'
import type { ApiRequest, Target } from '../routes/messages.ts'
import { MAX_DISCARDED_BYTES } from '../routes/messages.ts'

/** A Fetch request as the routes see it. It reads nothing until the routes ask for it. */
export class FetchRequestContext implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #request: Request
  #gone: AbortController | undefined

  constructor(request: Request, target: Target) {
    this.method = request.method
    this.path = target.path
    this.query = target.query
    this.#request = request
  }

  /** Not every runtime exposes the Host header. The URL contains the same host. */
  header(name: string): string | undefined {
    const { headers, url } = this.#request
    return headers.get(name) ?? (name === 'host' ? new URL(url).host : undefined)
  }

  async body(limit: number): Promise<Uint8Array | undefined> {
    const bytes = this.stream(limit)
    return bytes && joined(bytes)
  }

  /**
   * Does not touch a body whose `Content-Length` exceeds the limit: the runtime discards that.
   *
   * @throws WireError `BODY_TOO_LARGE`; TypeError when the host has already read the body
   */
  stream(limit: number): AsyncIterable<Uint8Array> | undefined {
    const request = this.#request
    if (request.bodyUsed)
      throw new TypeError('the host has already read the body of this request: pass a clone made before reading')
    if (Number(request.headers.get('content-length')) > limit) throw bodyTooLarge(limit)
    return request.body === null ? undefined : limited(chunksOf(request.body), limit, () => this.clientGone())
  }

  get signal(): AbortSignal {
    return this.#gone?.signal ?? this.#request.signal
  }

  /** Aborts the signal, which not every runtime does, and returns the reason. */
  clientGone(): unknown {
    this.#gone ??= new AbortController()
    this.#gone.abort()
    return this.#gone.signal.reason
  }
}

type Body = NonNullable<Request['body']>

/**
 * The chunks of a body. What is not read of it is discarded. If it were cancelled, the server would close the
 * connection, and a client that sends its whole request before it reads would never see the response.
 */
async function* chunksOf(body: Body): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body.values({ preventCancel: true })
  } finally {
    void discard(body)
  }
}

/** Never rejects: the response does not depend on it. */
async function discard(body: Body): Promise<void> {
  try {
    let size = 0
    for await (const chunk of body) {
      size += chunk.length
      if (size > MAX_DISCARDED_BYTES) return // cancels the body
    }
  } catch {
    // The client has disconnected.
  }
}
