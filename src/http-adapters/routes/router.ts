/** The methods that routes can have. The router adds HEAD and OPTIONS. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The properties of a route that the router needs. */
export interface Routed {
  readonly method: Method
  /** The path with parameters in braces: `/orgs/{org}/blocks`. */
  readonly path: string
}

/** What a request's method and path match. */
export type Match<R extends Routed> =
  | RouteMatch<R>
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
  /** Few: comparing them with the path is faster than cutting a segment out of it to look it up. */
  readonly statics: { readonly segment: string; readonly branch: Branch<R> }[]
  parameter: Branch<R> | undefined
  leaf: Leaf<R> | undefined
}

/** A route, and the values of its parameters. */
export class RouteMatch<R extends Routed> {
  readonly kind = 'route'
  readonly route: R
  readonly #names: readonly string[]
  readonly #values: readonly string[]

  constructor(route: R, names: readonly string[], values: readonly string[]) {
    this.route = route
    this.#names = names
    this.#values = values
  }

  /** Returns a decoded parameter. */
  parameter(name: string): string {
    const value = this.#values[this.#names.indexOf(name)]
    if (value === undefined) throw new RangeError(`the path has no parameter ${name}`)
    return value
  }
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

    const found = find(this.#root, path, 1, 0)
    if (found === undefined) return undefined

    const { leaf, segments } = found
    const values = path.includes('%') ? decodeAll(segments) : segments
    if (values === undefined) return { kind: 'malformed', path: leaf.path }
    const route = leaf.routes.get(method)
    if (route !== undefined) return new RouteMatch(route, leaf.parameters, values)
    return { kind: method === 'OPTIONS' ? 'options' : 'wrong-method', path: leaf.path, allow: leaf.allow }
  }

  #add(route: R): void {
    let branch = this.#root
    const parameters: string[] = []
    for (const segment of route.path.slice(1).split('/')) {
      if (segment.startsWith('{')) parameters.push(segment.slice(1, -1))
      branch = descend(branch, segment)
    }

    branch.leaf ??= { routes: new Map(), path: route.path, parameters, allow: '' }
    plant(branch.leaf, route)
  }
}

function emptyBranch<R extends Routed>(): Branch<R> {
  return { statics: [], parameter: undefined, leaf: undefined }
}

function descend<R extends Routed>(branch: Branch<R>, segment: string): Branch<R> {
  if (segment.startsWith('{')) {
    branch.parameter ??= emptyBranch()
    return branch.parameter
  }

  const known = branch.statics.find((one) => one.segment === segment)
  if (known !== undefined) return known.branch
  const next: Branch<R> = emptyBranch()
  branch.statics.push({ segment, branch: next })
  return next
}

function plant<R extends Routed>(leaf: Leaf<R>, route: R): void {
  leaf.routes.set(route.method, route)
  if (route.method === 'GET') leaf.routes.set('HEAD', route)
  leaf.allow = METHODS.filter((method) => method === 'OPTIONS' || leaf.routes.has(method)).join(', ')
}

/** A leaf, and the segments of the path that are its parameters, in their order. Each is added on the way back. */
interface Found<R extends Routed> {
  readonly leaf: Leaf<R>
  readonly segments: string[]
}

/**
 * Finds the leaf for the rest of a path.
 *
 * @param from - the index where the next segment starts; beyond the end, there are no more segments
 * @param depth - the number of segments before it that are parameters
 */
function find<R extends Routed>(branch: Branch<R>, path: string, from: number, depth: number): Found<R> | undefined {
  if (from > path.length || (from === path.length && from > 1)) {
    return branch.leaf && { leaf: branch.leaf, segments: new Array<string>(depth) }
  }

  const slash = path.indexOf('/', from)
  const end = slash === -1 ? path.length : slash
  const found = findStatic(branch, path, from, end, depth)
  if (found !== undefined || branch.parameter === undefined || end === from) return found

  const behind = find(branch.parameter, path, end + 1, depth + 1)
  if (behind !== undefined) behind.segments[depth] = path.slice(from, end)
  return behind
}

function findStatic<R extends Routed>(
  { statics }: Branch<R>,
  path: string,
  from: number,
  end: number,
  depth: number,
): Found<R> | undefined {
  for (const { segment, branch } of statics) {
    if (segment.length === end - from && path.startsWith(segment, from)) return find(branch, path, end + 1, depth)
  }
  return undefined
}

function decodeAll(segments: readonly string[]): readonly string[] | undefined {
  try {
    return segments.map((segment) => (segment.includes('%') ? decodeURIComponent(segment) : segment))
  } catch {
    return undefined
  }
}
