/** The methods that routes can have. The router adds HEAD and OPTIONS. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The properties of a route that the router needs. */
export interface Routed {
  readonly method: Method
  /** The path with parameters in braces: `/orgs/{org}/blocks`. */
  readonly path: string
}

/** A path that a request has matched. */
export interface Match<R extends Routed> {
  /** The path with parameters in braces. */
  readonly path: string
  /** The methods of the path, for the header `Allow`. */
  readonly allow: string
  /** Undefined if the path does not have the method. */
  readonly route: R | undefined
  /** The names of the parameters in the path. */
  readonly names: readonly string[]
  /** The path, then the values of the parameters; undefined if a segment of the path cannot be decoded. */
  readonly values: readonly string[] | undefined
}

/** The methods that a path can have. */
export const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Returns the function that finds the path of a request, or undefined for a path that none of the routes has. Segments
 * are matched as sent and decoded afterwards, so that `%2F` stays within its segment. A static segment
 * takes precedence over a parameter. A parameter is never empty. One trailing slash is ignored.
 */
export function createRouter<R extends Routed>(
  routes: readonly R[],
): (method: string, path: string) => Match<R> | undefined {
  // A brace is behind every letter: of two paths, the one with a static segment comes first.
  const paths = [...new Set(routes.map(({ path }) => path))].sort().map((path) => {
    const rows = new Map<string, R>(routes.filter((row) => row.path === path).map((row) => [row.method, row]))
    const get = rows.get('GET')
    if (get !== undefined) rows.set('HEAD', get)
    const allow = METHODS.filter((method) => method === 'OPTIONS' || rows.has(method)).join(', ')
    const pattern = path.replaceAll('.', '[.]').replaceAll(/\{\w+\}/g, '([^/]+)')
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    return { path, rows, allow, names, pattern: new RegExp(`^${pattern}/?$`) }
  })
  return (method, sent) => {
    for (const { path, rows, allow, names, pattern } of paths) {
      const found = pattern.exec(sent)
      if (found !== null) return { path, allow, route: rows.get(method), names, values: decoded(found) }
    }
    return undefined
  }
}

function decoded(found: RegExpExecArray): readonly string[] | undefined {
  if (!found[0].includes('%')) return found
  try {
    return found.map((segment) => decodeURIComponent(segment))
  } catch {
    return undefined
  }
}
