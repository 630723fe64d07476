import { refuseFetch, serveFetch } from './fetch/serve-fetch.ts'
import type { Actor, Api } from './routes/create-api.ts'
import { toBase } from './routes/messages.ts'
import type { MountOptions } from './routes/mount-options.ts'
import { checkMount } from './routes/mount-options.ts'

export type { Actor, Api } from './routes/create-api.ts'
export type { MountOptions } from './routes/mount-options.ts'

/** How an API is mounted where requests are those of the Fetch standard. */
export interface FetchMountOptions<A extends Actor, Req extends Request, Native extends readonly unknown[]>
  extends MountOptions<A, readonly [request: Req, ...native: Native]> {
  /** Where the API is, when nobody has stripped it from the address: `/api/v1`. Default: at the root. */
  readonly basePath?: `/${string}` | undefined
}

/**
 * Answers a request. What the runtime or framework hands in behind it (the environment of a Worker, the context of a
 * framework) reaches `authenticate`.
 */
export interface FetchHandler<Req extends Request = Request, Native extends readonly unknown[] = readonly unknown[]> {
  /** Paths that are not ours are answered with 404. Never rejects. */
  (request: Req, ...native: Native): Promise<Response>
  /** Undefined: not one of our paths; nothing of the request has been read. Never rejects. */
  match(request: Req, ...native: Native): Promise<Response | undefined>
}

/**
 * Mounts an API wherever a function of a Fetch `Request` gives a `Response`: `Bun.serve`, `Deno.serve`, Workers, Hono's `mount`,
 * route handlers in the style of Next.js. Source: docs/mounting.md
 *
 * @throws TypeError when an option is missing or is not what it should be
 */
export function fetchHandler<
  A extends Actor,
  Req extends Request = Request,
  Native extends readonly unknown[] = readonly unknown[],
>(api: Api<A>, options: FetchMountOptions<NoInfer<A>, Req, Native>): FetchHandler<Req, Native> {
  checkMount('fetchHandler', api, options)
  const { authenticate, crossSite } = options
  const base = toBase(options.basePath)

  const match = (request: Req, ...native: Native): Promise<Response | undefined> =>
    serveFetch(api, { request, base, authenticate: () => authenticate(request, ...native), options: { crossSite } })
  const handle = async (request: Req, ...native: Native): Promise<Response> =>
    (await match(request, ...native)) ?? refuseFetch(api, request)
  return Object.assign(handle, { match })
}
