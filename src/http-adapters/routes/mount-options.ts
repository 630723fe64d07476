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
