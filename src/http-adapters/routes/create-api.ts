import type { Forge, ForgeInternals } from '../../core/forge.ts'
import type { ObservedRequest } from '../../core/observer.ts'
import type { Actor, Caller } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import { toId } from '../../schema/ids.ts'
import { internalsOf } from '../../schema/internal.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, runMaybeAsync, wait } from '../../schema/sync-or-async.ts'
import { refuseCrossSite } from './cross-site.ts'
import type { ErrorJson } from './error-reply.ts'
import { errorReply, failureReply, isAbort } from './error-reply.ts'
import type { ApiRequest, ApiResponse, TextResponse } from './messages.ts'
import type { OpenApiDocument } from './openapi.ts'
import { openApiDocument } from './openapi.ts'
import type { ApiOptions, UncheckedOptions } from './options.ts'
import { toSettings } from './options.ts'
import { isNil } from './ports.ts'
import { emptyReply, withoutBody } from './replies.ts'
import type { Route } from './route.ts'
import { RequestContext } from './route.ts'
import { forgejoRoutes, routeTable } from './route-table.ts'
import type { Match } from './router.ts'
import { createRouter, METHODS } from './router.ts'
import { Slots } from './slots.ts'
import { refuseSudo } from './sudo.ts'

/** The route table, bound to one forge. Every adapter mounts it. */
export interface Api<A extends Actor> {
  /**
   * Returns the OpenAPI 3.1 document of the mounted routes: every operation, every response, every error. The
   * document omits the paths of `forgejoPaths`. Each call returns a new object of plain JSON, which the host may serve or
   * change. Source: docs/manual/05-mount-it.md
   */
  openApi(): OpenApiDocument
  /**
   * For adapters: answers a request, synchronously if the ports and the storage are synchronous. Never throws and never
   * rejects: an error becomes a response.
   *
   * @param authenticate - called only when a route matches, before any other lookup
   * @returns undefined for a path that the API does not have
   */
  dispatch(
    request: ApiRequest,
    authenticate: Authenticate<A>,
    options?: DispatchOptions,
  ): MaybePromise<ApiResponse | undefined>
  /** For adapters: the 404 response for a path that the API does not have, if nothing else can answer the request. */
  unmatched(request: ApiRequest): TextResponse
  /** For adapters: the response to an error in the adapter itself. Unexpected errors are logged. */
  failed(request: ApiRequest, error: unknown): TextResponse
}

export type { Actor } from '../../core/ports.ts'

/** Runs the host's `authenticate`. Returns the caller's actor, or null for an anonymous caller. */
export type Authenticate<A extends Actor> = () => MaybePromise<A | null>

/** Options that a mount passes with each request. */
export interface DispatchOptions {
  /**
   * Whether the API refuses unsafe requests that a browser sends for another site, unless their `Authorization` has the
   * scheme `Bearer` or `token`. Default: `'refuse'`. Source: docs/behaviour.md, Over HTTP
   */
  readonly crossSite?: 'refuse' | 'allow' | undefined
}

/**
 * Binds the route table to a forge. The host's directory resolves the names in paths to ids, and its presenter turns
 * ids into the JSON objects of responses. The logger, the observer, `newId` and the clock are those of the forge, and so
 * are the services, unless `options` chooses some of them.
 *
 * @throws TypeError when an option is missing or out of its range
 */
export function createApi<A extends Actor, Tx, F extends ServiceName = ServiceName, S extends F = F>(
  forge: Forge<A, Tx, F>,
  options: ApiOptions<NoInfer<A>, S>,
): Api<A>
export function createApi(forge: unknown, options: UncheckedOptions): Api<Actor> {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: createForge alone stores them
  const internals = internalsOf(forge) as ForgeInternals | undefined
  if (internals === undefined) throw new TypeError('createApi needs a forge that createForge returned')

  const { operations } = internals
  const settings = toSettings(options, internals)
  const { maxExports, maxImports } = settings.limits
  const slots = { exports: new Slots('exports', maxExports), imports: new Slots('imports', maxImports) }
  const routes = [...routeTable, ...(settings.forgejoPaths ? forgejoRoutes : [])]
  const findPath = createRouter(routes.filter(({ service }) => settings.services.has(service)))

  function* answer(
    request: ApiRequest,
    match: Match<Route>,
    route: Route,
    authenticate: Authenticate<Actor>,
    crossSite: DispatchOptions['crossSite'],
  ): SyncOrAsync<ApiResponse> {
    const observed = observing(settings.observe, request, route)
    let reply: ApiResponse
    let aborted = false
    try {
      if (crossSite !== 'allow') refuseCrossSite(request, settings.publicUrl)
      refuseSudo(request)
      const identified = authenticate()
      const actor = toCaller(isPromise(identified) ? yield* wait(identified) : identified)
      const context = new RequestContext(request, actor)
      reply = yield* route.answer({ request, actor, match, operations, settings, slots, context })
    } catch (error) {
      reply = failureReply(settings, error, { request, operationId: route.operationId })
      aborted = reply.status >= 500 && isAbort(error, request.signal)
    }
    observed?.(reply, aborted)
    return forMethod(request, reply)
  }

  function refuse(request: ApiRequest, reply: TextResponse, route: ObservedRoute): TextResponse {
    observing(settings.observe, request, route)?.(reply)
    return forMethod(request, reply)
  }

  return {
    openApi: () => openApiDocument(settings),
    dispatch(request, authenticate, { crossSite } = {}) {
      const match = findPath(request.method, request.path)
      if (match === undefined) return undefined

      const { path, allow, route, values } = match
      if (values === undefined) return refuse(request, errorReply(settings, 'ROUTE_NOT_FOUND', 'not found'), { path })
      if (route !== undefined) return runMaybeAsync(answer(request, match, route, authenticate, crossSite))
      const headers = [['Allow', allow]] as const
      if (request.method === 'OPTIONS') return refuse(request, emptyReply(204, headers), { path })
      const refusal = errorReply(settings, 'METHOD_NOT_ALLOWED', 'method not allowed', { headers })
      return refuse(request, refusal, { path })
    },
    unmatched: (request) => refuse(request, errorReply(settings, 'ROUTE_NOT_FOUND', 'not found'), {}),
    failed: (request, error) => forMethod(request, failureReply(settings, error, { request })),
  }
}

function forMethod(request: ApiRequest, reply: TextResponse): TextResponse
function forMethod(request: ApiRequest, reply: ApiResponse): ApiResponse
function forMethod(request: ApiRequest, reply: ApiResponse): ApiResponse {
  return request.method === 'HEAD' ? withoutBody(reply) : reply
}

/**
 * Hosts in JavaScript may return undefined for an anonymous caller. Any other value that is not an object with an id,
 * above all `'system'`, is refused.
 */
function toCaller(actor: Actor | null | undefined): Caller<Actor> {
  if (isNil(actor)) return 'anonymous'
  if (typeof actor !== 'object') throw new TypeError('authenticate must return an object with an id, or null')

  toId(actor.id, 'actor.id')
  return actor
}

/** The route that was found for a request. */
type ObservedRoute = Partial<Pick<ObservedRequest, 'path' | 'operationId' | 'service'>>

/** Starts to observe a request, if there is an observer. Call the returned function with its response. */
function observing(
  observe: ((request: ObservedRequest) => void) | undefined,
  request: ApiRequest,
  { path, operationId, service }: ObservedRoute,
): ((reply: ApiResponse, aborted?: boolean) => void) | undefined {
  if (observe === undefined) return undefined

  const begun = performance.now()
  const method = METHODS.includes(request.method) ? request.method : '_OTHER'
  return (reply, aborted = false) => {
    const milliseconds = performance.now() - begun
    observe({ method, path, operationId, service, status: reply.status, milliseconds, aborted, ...errorOf(reply) })
  }
}

/** What the response says about an error. */
function errorOf({ status, body }: ApiResponse): Pick<ObservedRequest, 'code' | 'requestId'> {
  if (status < 400 || typeof body !== 'string') return { code: undefined, requestId: undefined }

  const { code, requestId }: ErrorJson = JSON.parse(body)
  return { code, requestId }
}
