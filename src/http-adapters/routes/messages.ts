import type { MaybePromise } from '../../schema/sync-or-async.ts'

export { endOf } from '../../schema/iteration.ts'

/**
 * A request, as every adapter passes it in. It consists of plain values, so that no adapter has to construct a
 * runtime's request object.
 */
export interface ApiRequest {
  /** In upper case, as sent. */
  readonly method: string
  /**
   * The path below the mount point, without the query. It starts with `/` and is still percent-encoded:
   * `/orgs/acme/blocks`.
   */
  readonly path: string
  /** The query without the question mark; `""` if the URL has no query. */
  readonly query: string
  /** Returns the value of a header, or `undefined` if it was not sent. `name` is in lower case. */
  header(name: string): string | undefined
  /**
   * Reads the body. Called at most once, and only for routes that take a body, after the caller was authorized. Returns
   * the text or bytes as sent, or the value that a body parser of the host produced from them; `undefined` if the
   * request has no body.
   *
   * @param limit - the maximum number of bytes to accept
   * @throws WireError `BODY_TOO_LARGE`
   */
  body(limit: number): MaybePromise<unknown>
  /**
   * Returns the body as bytes that are received while they are read. Called at most once, in place of `body`. Nothing is
   * received before the first read, and nothing ahead of the next one beyond the buffers of the connection. Returns the
   * value that a body parser of the host produced, as a list; `undefined` if the request has no body. The bytes end with
   * an error when the client disconnects.
   *
   * @param limit - the maximum number of bytes to accept, as sent
   * @throws WireError `BODY_TOO_LARGE`, also while the bytes are read
   */
  stream(limit: number): AsyncIterable<Uint8Array> | readonly unknown[] | undefined
  /** Aborted when the client disconnects before it receives the whole response. */
  readonly signal?: AbortSignal | undefined
  /** Whether the client is known to have disconnected. The signal of a runtime may be aborted although it waits. */
  readonly isGone?: boolean | undefined
}

/** One header of a response. */
export type HeaderLine = readonly [name: string, value: string]

/** A response, as every adapter writes it. */
export type ApiResponse = TextResponse | StreamedResponse

/**
 * A response with a text, or without a body. A response without a body has no content type, unless it answers a HEAD
 * request: then it has the headers of the GET response, and a `Content-Length` if that response is not streamed.
 */
export interface TextResponse {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: string | undefined
}

/** A response whose body is produced while it is sent. */
export interface StreamedResponse {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  /**
   * Read once, one piece at a time, as fast as the client reads. The adapter calls `return` of the iterator when the
   * bytes are not sent to the end. If the iterator throws, the adapter cuts the connection, so that no client takes the
   * body for a complete one.
   */
  readonly body: AsyncIterable<Uint8Array>
}

/** Whether the body of a response is produced while it is sent. */
export function isStreamed(response: ApiResponse): response is StreamedResponse {
  return typeof response.body === 'object'
}

/** The parts of a request target, still percent-encoded. */
export interface Target {
  /** Starts with `/`. */
  readonly path: string
  /** The query without the question mark; `""` if the target has no query. */
  readonly query: string
}

const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/[^/?]*/i

/**
 * Splits a request target: `/path?query`, or the absolute form that proxies send, `http://host/path?query`. Any other
 * target (`*`, garbage) becomes a path that no route has.
 */
export function parseTarget(url: string): Target {
  const target = url.startsWith('/') ? url : url.replace(ABSOLUTE, '')
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = mark === -1 ? '' : target.slice(mark + 1)

  return { path: path === '' ? '/' : path, query }
}

/**
 * Returns the part of a target below a mount point.
 *
 * @param base - `""`, or a path without a trailing slash
 * @returns undefined if the target is not below `base`: `/apiary` is not below `/api`
 */
export function below(base: string, { path, query }: Target): Target | undefined {
  if (path === base) return { path: '/', query }
  return path.startsWith(`${base}/`) ? { path: path.slice(base.length), query } : undefined
}

/**
 * Checks the mount point that a host passes in.
 *
 * @throws TypeError when it is not a path: it must start with `/` and have no query, fragment or blank
 */
export function toBase(basePath: string | undefined): string {
  if (basePath === undefined) return ''
  if (typeof basePath === 'string' && /^\/[^?#\s]*$/.test(basePath)) return basePath.replace(/\/+$/, '')

  throw new TypeError('basePath must be a path such as /api/v1')
}

/**
 * The length of an unwanted body that is received and discarded at most, in bytes: 64 MiB.
 * Source: docs/behaviour.md, Over HTTP
 */
export const MAX_DISCARDED_BYTES = 67_108_864
