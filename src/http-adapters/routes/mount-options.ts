import type { Actor } from '../../core/ports.ts'
import { isObject, need } from '../../schema/arguments.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { Api } from './create-api.ts'
import type { DispatchOptions } from './dispatch.ts'

/** What every adapter is told; `Native` is what its runtime hands in. */
export interface MountOptions<A extends Actor, Native extends readonly unknown[]> extends DispatchOptions {
  /**
   * Who asks: null = no credential was sent; throw `ForgeError('INVALID_CREDENTIALS')` for a wrong one. Called once per
   * request, and only for routes of ours.
   */
  readonly authenticate: (...native: Native) => MaybePromise<A | null>
}

/**
 * Checks what a host says of its mount.
 *
 * @param caller - the function that the host called, for the message
 * @throws TypeError when an option is missing or is not what it should be
 */
export function checkMount<A extends Actor, Native extends readonly unknown[]>(
  caller: string,
  api: Api<A>,
  options: MountOptions<A, Native>,
): void {
  need(isObject(api) && typeof api.dispatch === 'function', caller, 'api', 'an API made by createApi')
  need(isObject(options), caller, 'options', 'an object with authenticate')
  const { authenticate, crossSite } = options
  need(typeof authenticate === 'function', caller, 'authenticate', 'a function of the request')
  if (crossSite === undefined || crossSite === 'refuse' || crossSite === 'allow') return
  throw new TypeError("crossSite must be 'refuse' or 'allow'")
}
