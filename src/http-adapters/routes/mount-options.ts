import type { Actor } from '../../core/ports.ts'
import type { MaybePromise } from '../../schema/steps.ts'
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
  { authenticate, crossSite }: MountOptions<A, Native>,
): void {
  if (typeof authenticate !== 'function') throw new TypeError(`${caller} needs authenticate: a function of the request`)
  if (crossSite === undefined || crossSite === 'refuse' || crossSite === 'allow') return
  throw new TypeError("crossSite must be 'refuse' or 'allow'")
}
