import { invalidInput } from '../../schema/errors.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import { bodyTooLarge } from './error-status.ts'
import type { ApiRequest } from './messages.ts'

const NOTHING = new Uint8Array(0)
/** The minimum size of the first buffer, in bytes. */
const MIN_CAPACITY = 1024

/**
 * Collects the bytes of a body as they arrive, up to a limit. For adapters. It copies the chunks into one buffer, which
 * doubles when it is full. The client decides how many chunks there are, and a chunk takes far more memory than its
 * bytes.
 */
export class BodyBuffer {
  readonly #limit: number
  #buffer = NOTHING
  #size = 0

  /** @param limit - the maximum number of bytes to accept */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds a chunk. Returns false if the body exceeds the limit; the collected bytes are then discarded. */
  take(chunk: Uint8Array): boolean {
    const start = this.#size
    this.#size += chunk.length
    if (this.#size > this.#limit) {
      this.#buffer = NOTHING
      return false
    }

    if (this.#size > this.#buffer.length) this.#grow(start)
    this.#buffer.set(chunk, start)
    return true
  }

  /** All collected bytes, or `undefined` if no bytes arrived. */
  joined(): Uint8Array | undefined {
    return this.#size === 0 ? undefined : this.#buffer.subarray(0, this.#size)
  }

  #grow(filled: number): void {
    const doubled = Math.max(this.#size, this.#buffer.length * 2, MIN_CAPACITY)
    const grown = new Uint8Array(Math.min(doubled, this.#limit))
    grown.set(this.#buffer.subarray(0, filled))
    this.#buffer = grown
  }
}

/**
 * Returns what a body parser of the host produced, for `ApiRequest.stream`: bytes and texts as one piece, JSON as a list.
 *
 * @throws WireError `BODY_TOO_LARGE`
 */
export function parsedStream(body: unknown, limit: number): ReturnType<ApiRequest['stream']> {
  if (Array.isArray(body)) return body
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return [body]

  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  if (bytes.length > limit) throw bodyTooLarge(limit)
  return onePiece(bytes)
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes
}

/**
 * Reads a body as JSON, whatever its content type. A value that a body parser of the host produced is taken unchanged.
 *
 * @throws ForgeError `INVALID_INPUT` for the whole body if it is missing, not UTF-8 or not JSON; WireError
 * `BODY_TOO_LARGE`
 */
export function readJson(request: ApiRequest, limit: number): MaybePromise<unknown> {
  return after(request.body(limit), (body) => toJson(body, limit))
}

function toJson(body: unknown, limit: number): unknown {
  if (body === undefined) throw missing()
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return body
  if (body.length > limit) throw bodyTooLarge(limit)

  const text = typeof body === 'string' ? body : decode(body)
  if (text.trim() === '') throw missing()
  return parse(text)
}

function missing(): Error {
  return invalidInput('', 'required', 'a JSON body is required')
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidInput('', 'json', 'the body must be UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidInput('', 'json', 'the body must be JSON')
  }
}
