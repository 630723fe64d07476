import { invalidInput } from '../../schema/errors.ts'
import { isBytes } from '../../schema/realms.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { bodyTooLarge } from './error-status.ts'
import type { ApiRequest } from './messages.ts'

/** The minimum size of the first buffer, in bytes. */
const MIN_CAPACITY = 1024

/**
 * Limits the bytes of a body while they are read. For adapters. A reader that stops early, or a body beyond the limit,
 * calls `return` of the chunks.
 *
 * @param chunks - as the runtime receives them: texts if the host has set an encoding. An error of theirs means that the
 * client has disconnected
 * @param limit - the maximum number of bytes to accept
 * @param clientGone - called when the client disconnects before the end of the body; returns the abort reason
 * @throws WireError `BODY_TOO_LARGE`; the abort reason when the client has disconnected
 */
export async function* limited(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
  limit: number,
  clientGone: () => unknown,
): AsyncGenerator<Uint8Array, void, void> {
  let size = 0
  try {
    for await (const chunk of chunks) {
      const bytes = isBytes(chunk) ? chunk : new TextEncoder().encode(String(chunk))
      size += bytes.length
      if (size > limit) break
      yield bytes
    }
  } catch {
    throw clientGone()
  }
  if (size > limit) throw bodyTooLarge(limit)
}

/**
 * Reads chunks to their end, for `ApiRequest.body`. It copies them into one buffer, which doubles when it is full: the
 * client decides how many chunks there are, and a chunk takes far more memory than its bytes.
 *
 * @returns undefined if there are no bytes
 */
export async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  let buffer = new Uint8Array(MIN_CAPACITY)
  let size = 0
  for await (const chunk of chunks) {
    const start = size
    size += chunk.length
    if (size > buffer.length) {
      const grown = new Uint8Array(Math.max(size, buffer.length * 2))
      grown.set(buffer)
      buffer = grown
    }
    buffer.set(chunk, start)
  }
  return size === 0 ? undefined : buffer.subarray(0, size)
}

/** What a body parser of the host produced, for `ApiRequest.stream`: bytes and texts as bytes, JSON as a list. */
export function parsedStream(body: unknown, limit: number): ReturnType<ApiRequest['stream']> {
  if (Array.isArray(body)) return body
  return typeof body === 'string' || isBytes(body) ? limited([body], limit, () => undefined) : [body]
}

/**
 * Reads a body as JSON, whatever its content type. A value that a body parser of the host produced is taken unchanged.
 *
 * @throws ForgeError `INVALID_INPUT` for the whole body if it is missing, not UTF-8 or not JSON; WireError
 * `BODY_TOO_LARGE`
 */
export function* readJson(request: ApiRequest, limit: number): SyncOrAsync<unknown> {
  const sent = yield* wait(request.body(limit))
  const body = sent === undefined ? '' : sent
  if (typeof body !== 'string' && !isBytes(body)) return body
  if (body.length > limit) throw bodyTooLarge(limit)

  const text = typeof body === 'string' ? body : decode(body)
  if (text.trim() === '') throw invalidInput('', 'required', 'a JSON body is required')
  try {
    return JSON.parse(text)
  } catch {
    throw invalidInput('', 'json', 'the body must be JSON')
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidInput('', 'json', 'the body must be UTF-8')
  }
}
