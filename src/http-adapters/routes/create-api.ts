import type { Forge, ForgeInternals } from '../../core/forge.ts'
import type { Actor } from '../../core/ports.ts'
import { internalsOf } from '../../schema/doors.ts'
import type { Api } from './api.ts'
import { Dispatcher } from './dispatch.ts'
import { openApiDocument } from './openapi/open-api-document.ts'
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
