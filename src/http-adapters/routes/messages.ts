import type { MaybePromise } from '../../schema/sync-or-async.ts'

/** A request, as every adapter hands it in: plain values, so that no runtime's own request is ever built. */
export interface ApiRequest {
  /** In capitals, as sent. */
  readonly method: string
  /** Below the mount point, still percent-encoded, beginning with `/`, without the query: `/orgs/acme/blocks`. */
  readonly path: string
  /** Without the question mark; `""` when there is none. */
  readonly query: string
  /** The value of a header, undefined when it was not sent. The name is in lower case. */
  header(name: string): string | undefined
  /**
   * Reads the body; called at most once, and only for routes that take one, after the caller was authorised.
   * Gives text or bytes as sent, or what a body parser of the host's made of them; undefined when there is none.
   *
   * @param limit - most bytes to take
   * @throws WireError `BODY_TOO_LARGE`
   */
  body(limit: number): MaybePromise<unknown>
  /** Aborted when the client goes away before it is answered. */
  readonly signal?: AbortSignal | undefined
}

/** One header of a reply. */
export type HeaderLine = readonly [name: string, value: string]

/** A reply, as every adapter writes it out. Without a body there is no content type either; a HEAD reply has its `Content-Length`. */
export interface ApiResponse {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: string | undefined
}

/** A request target, taken apart: still percent-encoded. */
export interface Target {
  /** Begins with `/`. */
  readonly path: string
  /** Without the question mark; `""` when there is none. */
  readonly query: string
}

const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/[^/?]*/i

/**
 * Takes a request target apart: `/path?query`, or the absolute form of proxies, `http://host/path?query`. Whatever else comes
 * (`*`, garbage) is a path that nobody has.
 */
export function parseTarget(url: string): Target {
  const target = url.startsWith('/') ? url : url.replace(ABSOLUTE, '')
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = mark === -1 ? '' : target.slice(mark + 1)

  return { path: path === '' ? '/' : path, query }
}

/**
 * What of a target is below a mount point.
 *
 * @param base - `""`, or a path without a slash at its end
 * @returns undefined when nothing is: `/apiary` is not below `/api`
 */
export function below(base: string, { path, query }: Target): Target | undefined {
  if (path === base) return { path: '/', query }
  return path.startsWith(`${base}/`) ? { path: path.slice(base.length), query } : undefined
}

/**
 * Checks the mount point that a host names.
 *
 * @throws TypeError when it is not a path: it begins with `/`, and has no query, fragment or blank
 */
export function toBase(basePath: string | undefined): string {
  if (basePath === undefined) return ''
  if (typeof basePath === 'string' && /^\/[^?#\s]*$/.test(basePath)) return basePath.replace(/\/+$/, '')

  throw new TypeError('basePath must be a path such as /api/v1')
}

/** Most bytes that an adapter takes in and drops of a body nobody wants: 64 MiB. Source: docs/behaviour.md, Over HTTP */
export const MAX_DISCARDED_BYTES = 67_108_864
