import type { Actor } from '../../core/ports.ts'
import { isObject, need } from '../../schema/arguments.ts'
import type { OptionNames } from '../../schema/options.ts'
import { refuseUnknown } from '../../schema/options.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { Api, DispatchOptions } from './create-api.ts'

/** The options of every adapter. `Native` is the list of arguments that its runtime passes in. */
export interface MountOptions<A extends Actor, Native extends readonly unknown[]> extends DispatchOptions {
  /**
   * Identifies the caller. Return null if the request has no credential. Throw `ForgeError('INVALID_CREDENTIALS')` if
   * the credential is invalid. Called once for each request whose path and method the API has, before every other port,
   * and outside of any transaction.
   */
  readonly authenticate: (...native: Native) => MaybePromise<A | null>
  /**
   * The path at which the API is mounted, for example `/api/v1`. Set it unless the server, runtime or framework strips
   * this prefix from the URL. Default: the root.
   */
  readonly basePath?: `/${string}` | undefined
}

const OPTIONS: OptionNames<MountOptions<never, never>> = {
  authenticate: true,
  crossSite: true,
  basePath: true,
}

/**
 * Checks the options of a mount.
 *
 * @param caller - the function that the host called, for the message
 * @throws TypeError when an option is missing or invalid
 */
export function checkMount<A extends Actor, Native extends readonly unknown[]>(
  caller: string,
  api: Api<A>,
  options: MountOptions<A, Native>,
): void {
  need(isObject(api) && typeof api.dispatch === 'function', caller, 'api', 'an API made by createApi')
  need(isObject(options), caller, 'options', 'an object with authenticate')
  refuseUnknown(caller, options, OPTIONS)
  const { authenticate, crossSite } = options
  need(typeof authenticate === 'function', caller, 'authenticate', 'a function of the request')
  if (crossSite === undefined || crossSite === 'refuse' || crossSite === 'allow') return
  throw new TypeError("crossSite must be 'refuse' or 'allow'")
}
