import type { Forge, ForgeInternals } from '../../core/forge.ts'
import type { Actor } from '../../core/ports.ts'
import { internalsOf } from '../../schema/doors.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { Authenticate, DispatchOptions } from './dispatch.ts'
import { Dispatcher } from './dispatch.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'
import type { OpenApiDocument } from './openapi/document.ts'
import { openApiDocument } from './openapi/document.ts'
import type { ApiOptions } from './settings.ts'
import { toSettings } from './settings.ts'

/**
 * Binds the route table to a forge. The host's directory and presenter stand between names and ids, and between ids and
 * what the wire shows.
 *
 * @throws TypeError when an option is missing or out of its range
 */
export function createApi<A extends Actor, Tx>(forge: Forge<A, Tx>, options: ApiOptions<NoInfer<A>>): Api<A> {
  // The cast: nothing but createForge hides anything there, for the actors that the forge's type names.
  const internals = internalsOf(forge) as ForgeInternals<A> | undefined
  if (internals === undefined) throw new TypeError('createApi needs forge: a forge made by createForge')

  const settings = toSettings(options, internals.logger)
  const dispatcher = new Dispatcher(internals.operations, settings)
  return {
    openApi: () => openApiDocument(settings),
    dispatch: (request, authenticate, more) => dispatcher.dispatch(request, authenticate, more),
    unmatched: (request) => dispatcher.unmatched(request),
    failed: (request, error) => dispatcher.failed(request, error),
  }
}

export type { Actor } from '../../core/ports.ts'

/** The route table bound to one forge: what every adapter mounts. */
export interface Api<A extends Actor> {
  /**
   * The OpenAPI 3.1 document of what is mounted: every operation, every reply, every error. A new object each time, of plain
   * JSON, for the host to serve or to change. Source: docs/openapi.md
   */
  openApi(): OpenApiDocument
  /**
   * For adapters: answers a request, at once where ports and storage do. Never throws, never rejects: what fails is a reply.
   *
   * @param authenticate - called only for routes of ours, before anything else is looked up
   * @returns undefined: not one of our paths
   */
  dispatch(
    request: ApiRequest,
    authenticate: Authenticate<A>,
    options?: DispatchOptions,
  ): MaybePromise<ApiResponse | undefined>
  /** For adapters: the 404 for a path that is not ours, where nobody else can answer. */
  unmatched(request: ApiRequest): ApiResponse
  /** For adapters: the reply to a failure of their own; unexpected ones are logged. */
  failed(request: ApiRequest, error: unknown): ApiResponse
}
