import type { Forge, ForgeInternals } from '../../core/forge.ts'
import type { Actor } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import { internalsOf } from '../../schema/internal.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { Authenticate, DispatchOptions } from './dispatch.ts'
import { Dispatcher } from './dispatch.ts'
import type { ApiRequest, ApiResponse, TextResponse } from './messages.ts'
import type { OpenApiDocument } from './openapi.ts'
import { openApiDocument } from './openapi.ts'
import type { ApiOptions, UncheckedOptions } from './settings.ts'
import { toSettings } from './settings.ts'

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
export function createApi<A extends Actor>(forge: unknown, options: UncheckedOptions): Api<A> {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: createForge alone stores them, for this forge's actor
  const internals = internalsOf(forge) as ForgeInternals<A> | undefined
  if (internals === undefined) throw new TypeError('createApi needs a forge that createForge returned')

  const settings = toSettings<A>(options, internals)
  const dispatcher = new Dispatcher(internals.operations, settings)
  return {
    openApi: () => openApiDocument(settings),
    dispatch: (request, authenticate, more) => dispatcher.dispatch(request, authenticate, more),
    unmatched: (request) => dispatcher.unmatched(request),
    failed: (request, error) => dispatcher.failed(request, error),
  }
}

export type { Actor } from '../../core/ports.ts'

/** The route table, bound to one forge. Every adapter mounts it. */
export interface Api<A extends Actor> {
  /**
   * Returns the OpenAPI 3.1 document of the mounted routes: every operation, every response, every error. Each call
   * returns a new object of plain JSON, which the host may serve or change. Source: docs/openapi.md
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
