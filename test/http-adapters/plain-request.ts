import type { ApiRequest, ApiResponse } from '../../src/http-adapters/http.ts'

/** What a test says of a request; the body is a text, as it would be sent. */
export interface Plain extends Partial<Omit<ApiRequest, 'body' | 'stream'>> {
  readonly body?: string | undefined
}

/** A request without an adapter. */
export function plainRequest({ method = 'GET', path = '/', body, ...more }: Plain): ApiRequest {
  const bytes = body === undefined ? undefined : new TextEncoder().encode(body)
  const stream = (): AsyncIterable<Uint8Array> | undefined => bytes && onePiece(bytes)
  return { method, path, query: '', header: () => undefined, body: () => body, stream, ...more }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes
}

/** The text of a reply that is not streamed. */
export function textOf(reply: ApiResponse | undefined): string {
  const body = reply?.body ?? ''
  if (typeof body === 'string') return body
  throw new TypeError('the reply is streamed')
}

/** The text of any reply. */
export async function readText(reply: ApiResponse | undefined): Promise<string> {
  const body = reply?.body ?? ''
  if (typeof body === 'string') return body
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}
