import type { Actor } from '../../core/ports.ts'
import { hasMethods, need } from '../../schema/arguments.ts'
import type { OptionRules } from '../../schema/options.ts'
import { ANY, checkOptions, optional } from '../../schema/options.ts'
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
   * this prefix from the URL. On Node the handler also looks for it in `originalUrl`, in which frameworks keep the whole URL.
   * Default: the root.
   */
  readonly basePath?: `/${string}` | undefined
}

const OPTIONS: OptionRules<MountOptions<never, never>> = {
  authenticate: [(value) => typeof value === 'function', 'a function of the request'],
  crossSite: optional((value) => value === 'refuse' || value === 'allow', "'refuse' or 'allow'"),
  basePath: ANY,
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
  need(hasMethods(api, 'dispatch'), caller, 'api', 'an API made by createApi')
  checkOptions(caller, options, OPTIONS)
}
