import type { Method } from './route.ts'

/** The properties of a route that the router needs. */
export interface Routed {
  readonly method: Method
  /** The path with parameters in braces: `/orgs/{org}/blocks`. */
  readonly path: string
}

/** What a request's method and path match. */
export type Match<R extends Routed> =
  | { readonly kind: 'route'; readonly route: R; parameter(name: string): string }
  /**
   * The API has the path. The method is OPTIONS, or one that the path does not have; `allow` lists the methods it has.
   */
  | { readonly kind: 'options' | 'wrong-method'; readonly path: string; readonly allow: string }
  /** A route matches, but a segment of the path cannot be decoded. */
  | { readonly kind: 'malformed'; readonly path: string }

interface Leaf<R extends Routed> {
  readonly routes: Map<string, R>
  readonly path: string
  readonly parameters: readonly string[]
  allow: string
}

interface Branch<R extends Routed> {
  readonly statics: Map<string, Branch<R>>
  parameter: Branch<R> | undefined
  leaf: Leaf<R> | undefined
}

/** The methods that a path can have. */
export const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Finds the route for a path. It uses a trie of raw segments and decodes each segment once, so that `%2F` stays within
 * its segment. A static segment takes precedence over a parameter. A parameter is never empty. One trailing slash is
 * ignored.
 */
export class Router<R extends Routed> {
  readonly #root: Branch<R> = emptyBranch()

  constructor(routes: readonly R[]) {
    for (const route of routes) this.#add(route)
  }

  /** @returns undefined for a path that the API does not have */
  match(method: string, path: string): Match<R> | undefined {
    if (!path.startsWith('/')) return undefined

    const captured: string[] = []
    const leaf = find(this.#root, segmentsOf(path), 0, captured)
    if (leaf === undefined) return undefined

    const values = decodeAll(captured)
    if (values === undefined) return { kind: 'malformed', path: leaf.path }
    const route = leaf.routes.get(method)
    if (route !== undefined) return { kind: 'route', route, parameter: (name) => valueIn(leaf, values, name) }
    return { kind: method === 'OPTIONS' ? 'options' : 'wrong-method', path: leaf.path, allow: leaf.allow }
  }

  #add(route: R): void {
    let branch = this.#root
    const parameters: string[] = []
    for (const segment of segmentsOf(route.path)) {
      if (segment.startsWith('{')) parameters.push(segment.slice(1, -1))
      branch = descend(branch, segment)
    }

    branch.leaf ??= { routes: new Map(), path: route.path, parameters, allow: '' }
    plant(branch.leaf, route)
  }
}

function emptyBranch<R extends Routed>(): Branch<R> {
  return { statics: new Map(), parameter: undefined, leaf: undefined }
}

function segmentsOf(path: string): readonly string[] {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length
  return path.slice(1, end).split('/')
}

function descend<R extends Routed>(branch: Branch<R>, segment: string): Branch<R> {
  if (segment.startsWith('{')) {
    branch.parameter ??= emptyBranch()
    return branch.parameter
  }

  const next = branch.statics.get(segment) ?? emptyBranch()
  branch.statics.set(segment, next)
  return next
}

function plant<R extends Routed>(leaf: Leaf<R>, route: R): void {
  leaf.routes.set(route.method, route)
  if (route.method === 'GET') leaf.routes.set('HEAD', route)
  leaf.allow = METHODS.filter((method) => method === 'OPTIONS' || leaf.routes.has(method)).join(', ')
}

function find<R extends Routed>(
  branch: Branch<R>,
  segments: readonly string[],
  at: number,
  captured: string[],
): Leaf<R> | undefined {
  const segment = segments[at]
  if (segment === undefined) return branch.leaf

  const fixed = branch.statics.get(segment)
  const leaf = fixed === undefined ? undefined : find(fixed, segments, at + 1, captured)
  if (leaf !== undefined || branch.parameter === undefined || segment === '') return leaf

  captured.push(segment)
  const behind = find(branch.parameter, segments, at + 1, captured)
  if (behind === undefined) captured.pop()
  return behind
}

function decodeAll(segments: readonly string[]): readonly string[] | undefined {
  try {
    return segments.map((segment) => (segment.includes('%') ? decodeURIComponent(segment) : segment))
  } catch {
    return undefined
  }
}

function valueIn<R extends Routed>(leaf: Leaf<R>, values: readonly string[], name: string): string {
  const value = values[leaf.parameters.indexOf(name)]
  if (value === undefined) throw new RangeError(`the path has no parameter ${name}`)
  return value
}
