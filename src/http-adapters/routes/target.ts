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
