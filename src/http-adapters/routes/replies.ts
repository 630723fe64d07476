import type { Id } from '../../schema/ids.ts'
import { endOf } from '../../schema/iteration.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, wait } from '../../schema/sync-or-async.ts'
import type { ApiResponse, HeaderLine, StreamedResponse, TextResponse } from './messages.ts'
import { isStreamed } from './messages.ts'
import { isNil } from './ports.ts'

/** The headers of every response. */
const ALWAYS: readonly HeaderLine[] = [
  ['Cache-Control', 'max-age=0, private, must-revalidate'],
  ['X-Content-Type-Options', 'nosniff'],
]

// The content types, as Gitea spells them.
const JSON_TYPE: HeaderLine = ['Content-Type', 'application/json;charset=utf-8']
const TEXT_TYPE: HeaderLine = ['Content-Type', 'text/plain; charset=utf-8']

/** 204: done, without a body. */
export const noContent: TextResponse = { status: 204, headers: ALWAYS, body: undefined }

/** A response without a body: 204 to OPTIONS, 304. */
export function emptyReply(status: number, headers: readonly HeaderLine[]): TextResponse {
  return { status, headers: [...ALWAYS, ...headers], body: undefined }
}

/** A response with JSON. */
export function jsonReply(value: unknown, headers: readonly HeaderLine[] = [], status = 200): TextResponse {
  return { status, headers: [...ALWAYS, JSON_TYPE, ...headers], body: JSON.stringify(value) }
}

/** 200 with plain text. */
export function textReply(text: string, headers: readonly HeaderLine[] = []): TextResponse {
  return { status: 200, headers: [...ALWAYS, TEXT_TYPE, ...headers], body: text }
}

/** 200 with JSON that is produced while it is sent. Rejects with an error before its first piece. */
export async function jsonStreamReply(bytes: AsyncIterable<Uint8Array>): Promise<StreamedResponse> {
  return { status: 200, headers: [...ALWAYS, JSON_TYPE], body: await started(bytes) }
}

/**
 * Waits for the first piece of bytes, and returns all of them. An error before the first piece is thrown here, where it
 * can still become an error response. Unlike a generator, `return` reaches the bytes before the first `next`.
 */
export async function started(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const rest = bytes[Symbol.asyncIterator]()
  let first: IteratorResult<Uint8Array> | undefined = await rest.next()
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const piece = first ?? (await rest.next())
      first = undefined
      return piece
    },
    async return() {
      await rest.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/** The response to HEAD: the same headers, and a `Content-Length` if the length is known, without a body. */
export function withoutBody(reply: ApiResponse): TextResponse {
  const { status, headers } = reply
  if (isStreamed(reply)) {
    endOf(reply.body[Symbol.asyncIterator]())
    return { status, headers, body: undefined }
  }
  if (reply.body === undefined) return reply

  const length = new TextEncoder().encode(reply.body).length
  return { status, headers: [...headers, ['Content-Length', String(length)]], body: undefined }
}

/**
 * The headers of a list: the total number of items, links to its other pages, and permission for scripts of other
 * origins to read both.
 */
export function counted(total: number, link?: string | undefined): readonly HeaderLine[] {
  const count: HeaderLine = ['X-Total-Count', String(total)]
  if (link === undefined) return [count, ['Access-Control-Expose-Headers', 'X-Total-Count']]

  return [['Link', link], count, ['Access-Control-Expose-Headers', 'Link, X-Total-Count']]
}

/**
 * Calls the presenter once for a page, and not at all if the page is empty.
 *
 * @returns one object per id, as `JSON.stringify` would write it, and so safe to copy; undefined for an item that is
 * gone
 * @throws TypeError when the presenter does not return one object per id
 */
export function* presented(
  ids: readonly Id[],
  present: (ids: readonly Id[]) => MaybePromise<readonly (object | undefined)[]>,
): SyncOrAsync<readonly (object | undefined)[]> {
  if (ids.length === 0) return []

  const shown: unknown = yield* wait(present(ids))
  if (!Array.isArray(shown)) throw new TypeError('the presenter must return an array')
  if (shown.length !== ids.length) {
    throw new TypeError(`the presenter returned ${shown.length} objects for ${ids.length} ids`)
  }
  return shown.map(toShown)
}

function toShown(one: unknown): object | undefined {
  if (isNil(one)) return undefined
  if (typeof one !== 'object' || Array.isArray(one))
    throw new TypeError('the presenter must return an array of objects')
  if (isPromise(one)) throw new TypeError('the presenter returned an array of promises: await them with Promise.all')
  return 'toJSON' in one && typeof one.toJSON === 'function' ? toShown(asJson(one)) : one
}

/** Converts an object to plain JSON. Copying its own properties instead would reveal what its `toJSON` hides. */
function asJson(one: object): unknown {
  const text: string | undefined = JSON.stringify(one)
  return text === undefined ? undefined : JSON.parse(text)
}
