import { refuseFetch, serveFetch } from './fetch/serve-fetch.ts'
import type { Actor, Api } from './routes/create-api.ts'
import { toBase } from './routes/messages.ts'
import type { MountOptions } from './routes/mount-options.ts'
import { checkMount } from './routes/mount-options.ts'

export type { Actor, Api } from './routes/create-api.ts'
export type { MountOptions } from './routes/mount-options.ts'

/** Options for mounting an API where requests follow the Fetch standard. */
export interface FetchMountOptions<A extends Actor, Req extends Request, Native extends readonly unknown[]>
  extends MountOptions<A, readonly [request: Req, ...native: Native]> {
  /**
   * The path at which the API is mounted, for example `/api/v1`. Set it unless the runtime or framework strips this
   * prefix from the URL. Default: the root.
   */
  readonly basePath?: `/${string}` | undefined
}

/**
 * Answers a request: with a response if the ports and the storage are synchronous, otherwise with a promise for one.
 * Runtimes and frameworks take both, and each promise costs them more than a route. The handler passes any further
 * arguments, such as the environment of a Worker or the context of a framework, to `authenticate`.
 */
export interface FetchHandler<Req extends Request = Request, Native extends readonly unknown[] = readonly unknown[]> {
  /** Answers paths that the API does not have with 404. Never throws and never rejects. */
  (request: Req, ...native: Native): Response | Promise<Response>
  /**
   * Returns `undefined` for a path that the API does not have, without having read anything of the request. Never throws
   * and never rejects.
   */
  match(request: Req, ...native: Native): Response | undefined | Promise<Response | undefined>
}

/**
 * Mounts an API wherever a function takes a Fetch `Request` and returns a `Response`: `Bun.serve`, `Deno.serve`,
 * Workers, Hono's `mount`, and route handlers in the style of Next.js. Source: docs/manual/05-mount-it.md
 *
 * @throws TypeError when an option is missing or invalid
 */
export function fetchHandler<
  A extends Actor,
  Req extends Request = Request,
  Native extends readonly unknown[] = readonly unknown[],
>(api: Api<A>, options: FetchMountOptions<NoInfer<A>, Req, Native>): FetchHandler<Req, Native> {
  checkMount('fetchHandler', api, options)
  const { authenticate, crossSite } = options
  const base = toBase(options.basePath)
  const dispatchOptions = { crossSite }

  const match = (request: Req, ...native: Native): ReturnType<typeof serveFetch> =>
    serveFetch(api, { request, base, authenticate: () => authenticate(request, ...native), options: dispatchOptions })
  const handle = (request: Req, ...native: Native): Response | Promise<Response> => {
    const served = match(request, ...native)
    if (served instanceof Promise) return served.then((response) => response ?? refuseFetch(api, request))
    return served ?? refuseFetch(api, request)
  }
  return Object.assign(handle, { match })
}
