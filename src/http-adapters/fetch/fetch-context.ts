import { BodyBuffer } from '../routes/body.ts'
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

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? (name === 'host' ? this.#host() : undefined)
  }

  body(limit: number): Promise<Uint8Array | undefined> {
    return readBody(this.#request, limit, () => this.clientGone())
  }

  stream(limit: number): AsyncIterable<Uint8Array> | undefined {
    const chunks = unreadChunks(this.#request, limit)
    return chunks && new RequestStream(chunks, limit, () => this.clientGone())
  }

  get signal(): AbortSignal {
    return this.#gone?.signal ?? this.#request.signal
  }

  /** Not every runtime exposes the Host header. The URL contains the same host. */
  #host(): string {
    return new URL(this.#request.url).host
  }

  /** Aborts the signal, which not every runtime does, and returns the reason. */
  clientGone(): unknown {
    this.#gone ??= new AbortController()
    this.#gone.abort()
    return this.#gone.signal.reason
  }
}

/**
 * Reads the body of a Fetch request. It does not touch a body whose `Content-Length` exceeds the limit: the runtime
 * discards that. A body that turns out to exceed the limit is still read and discarded. If it were cancelled, the
 * server would close the connection, and a client that sends its whole request before it reads would never see the
 * response.
 *
 * @param limit - the maximum number of bytes to accept
 * @param clientGone - called when the client disconnects before the end of the body; returns the abort reason
 * @throws WireError `BODY_TOO_LARGE`; TypeError when the host has already read the body
 */
export async function readBody(
  request: Request,
  limit: number,
  clientGone: () => unknown,
): Promise<Uint8Array | undefined> {
  const chunks = unreadChunks(request, limit)
  if (chunks === undefined) return undefined

  const bytes = new BodyBuffer(limit)
  for (let next = await nextOf(chunks, clientGone); next.done !== true; next = await nextOf(chunks, clientGone)) {
    if (bytes.take(next.value)) continue
    void drain(chunks)
    throw bodyTooLarge(limit)
  }
  return bytes.joined()
}

/** Returns the chunks of a body. Throws as `readBody`. */
function unreadChunks(request: Request, limit: number): AsyncIterator<Uint8Array> | undefined {
  if (request.bodyUsed)
    throw new TypeError('the host has already read the body of this request: pass a clone made before reading')
  if (Number(request.headers.get('content-length')) > limit) throw bodyTooLarge(limit)
  return request.body?.[Symbol.asyncIterator]()
}

/**
 * The bytes of a Fetch request, received while they are read. If they are not read to the end, the rest is discarded as
 * `readBody` does.
 */
class RequestStream implements AsyncIterableIterator<Uint8Array> {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #limit: number
  readonly #clientGone: () => unknown
  #size = 0
  #isOver = false

  constructor(chunks: AsyncIterator<Uint8Array>, limit: number, clientGone: () => unknown) {
    this.#chunks = chunks
    this.#limit = limit
    this.#clientGone = clientGone
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** @throws WireError `BODY_TOO_LARGE`; the abort reason when the client has disconnected */
  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isOver) return { done: true, value: undefined }

    const next = await nextOf(this.#chunks, this.#clientGone)
    if (next.done === true) this.#isOver = true
    else this.#size += next.value.length
    if (this.#size <= this.#limit) return next
    this.#discard()
    throw bodyTooLarge(this.#limit)
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#isOver) this.#discard()
    return { done: true, value: undefined }
  }

  #discard(): void {
    this.#isOver = true
    void drain(this.#chunks)
  }
}

/** Reads the next chunk. A stream that fails means that the client has disconnected. */
async function nextOf(
  chunks: AsyncIterator<Uint8Array>,
  clientGone: () => unknown,
): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next()
  } catch {
    throw clientGone()
  }
}

/** Discards the rest of a body. Never rejects: the response does not depend on it. */
async function drain(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    let size = 0
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      size += next.value.length
      if (size > MAX_DISCARDED_BYTES) return void (await chunks.return?.())
    }
  } catch {
    // The client has disconnected.
  }
}
