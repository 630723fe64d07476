import { bodyTooLarge } from '../routes/error-status.ts'
import type { NodeRequest } from './node-messages.ts'

/**
 * The bytes of a Node request, received while they are read: between two reads the request is paused, and the client
 * must wait. A reader that stops before the end discards what still arrives. The adapter limits that (drain-request.ts).
 */
export class RequestStream implements AsyncIterableIterator<Uint8Array> {
  readonly #request: NodeRequest
  readonly #limit: number
  readonly #clientGone: () => unknown
  readonly #chunks: Uint8Array[] = []
  #size = 0
  #isStarted = false
  /** What follows the chunks. Undefined while more may arrive. */
  #end: { readonly error?: unknown } | undefined
  #wake: () => void = () => undefined

  /**
   * @param limit - the maximum number of bytes to accept
   * @param clientGone - called when the client disconnects before the end of the body; returns the abort reason
   */
  constructor(request: NodeRequest, limit: number, clientGone: () => unknown) {
    this.#request = request
    this.#limit = limit
    this.#clientGone = clientGone
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** @throws WireError `BODY_TOO_LARGE`; the abort reason when the client has disconnected */
  async next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const value = this.#chunks.shift()
      if (value !== undefined) return { done: false, value }
      if (this.#end !== undefined) return this.#finish(this.#end)

      const arrived = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#receive()
      await arrived
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#over({})
    return { done: true, value: undefined }
  }

  /** An error is thrown once, as generators do. */
  #finish(end: { readonly error?: unknown }): IteratorResult<Uint8Array> {
    this.#end = {}
    if ('error' in end) throw end.error
    return { done: true, value: undefined }
  }

  #receive(): void {
    if (this.#isStarted) {
      this.#request.resume?.()
      return
    }
    this.#isStarted = true
    if (this.#request.destroyed === true) {
      this.#ended({ error: this.#clientGone() }) // before the first read: no event will follow
      return
    }
    this.#request.on('data', (chunk) => this.#take(toBytes(chunk)))
    this.#request.on('end', () => this.#ended({}))
    const gone = (): void => {
      if (this.#end === undefined) this.#over({ error: this.#clientGone() })
    }
    for (const event of ['error', 'close']) this.#request.on(event, gone)
  }

  #take(chunk: Uint8Array): void {
    if (this.#end !== undefined) return // the rest of a body that is not wanted

    this.#size += chunk.length
    if (this.#size > this.#limit) {
      this.#over({ error: bodyTooLarge(this.#limit) })
      return
    }
    this.#chunks.push(chunk)
    this.#request.pause?.()
    this.#wake()
  }

  #ended(end: { readonly error?: unknown }): void {
    this.#end ??= end
    this.#wake()
  }

  /** Ends the stream without what has arrived, and lets the request flow so that its end is found. */
  #over(end: { readonly error?: unknown }): void {
    this.#chunks.length = 0
    this.#ended(end)
    if (this.#isStarted) this.#request.resume?.()
  }
}

/** Returns the bytes of a chunk. It is a text if the host has set an encoding. */
export function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  return new TextEncoder().encode(String(chunk))
}
