import type { Api, ApiRequest, ApiResponse } from '../../src/http-adapters/http.ts'
import type { Actor } from '../../src/index.ts'
import type { Reply } from '../http.ts'
import type { Sent } from './run-case.ts'

/** What a test says of a request; the body is a text, as it would be sent. */
export interface Plain extends Partial<Omit<ApiRequest, 'body' | 'stream'>> {
  readonly body?: string | undefined
}

/** A request without an adapter. */
export function plainRequest({ method = 'GET', path = '/', body, ...more }: Plain): ApiRequest {
  const stream = (): AsyncIterable<Uint8Array> | undefined => (body === undefined ? undefined : onePiece(body))
  return { method, path, query: '', header: () => undefined, body: () => body, stream, ...more }
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array, void, void> {
  yield new TextEncoder().encode(text)
}

/** A path of the API with names that are there in the world, but for those that are given. */
export function pathTo(template: string, given: Readonly<Record<string, string>> = {}): string {
  const there = { owner: 'acme', repo: 'rocket', org: 'acme', username: 'stan', index: '1', position: '1' }
  const names: Readonly<Record<string, string>> = { ...there, ...given }
  return template.replaceAll(/\{(\w+)\}/g, (_brace, name: string) => names[name] ?? '')
}

/** The text of a reply, streamed or not. */
export async function readText(reply: ApiResponse | undefined): Promise<string> {
  const body = reply?.body ?? ''
  if (typeof body === 'string') return body
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Sends a request to an API without an adapter. */
export async function dispatched<A extends Actor>(
  api: Api<A>,
  { method, path: target, headers, body }: Sent,
  whoSends: (header: string | undefined) => Promise<A | null> | A | null,
): Promise<Reply> {
  const [path = '', query = ''] = target.split('?')
  const request = plainRequest({ method, path, query, header: (name) => headers[name], body })
  const reply = (await api.dispatch(request, () => whoSends(headers['authorization']))) ?? api.unmatched(request)
  return {
    status: reply.status,
    headers: new Map(reply.headers.map(([name, value]) => [name.toLowerCase(), value])),
    text: await readText(reply),
  }
}
