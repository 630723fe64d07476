import type { OpenCall } from '../call.ts'
import type { Perform, PerformLater, PerformNow } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { Prompt, SigningKeyService, Synchronous } from '../services.ts'
import type { SigningKeyOperations } from './signing-key-operations.ts'

/** The signing-key service over its operations, as promises, at once, or whichever comes. */
export function signingKeyService<A extends Actor, Tx>(
  signingKeys: SigningKeyOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformLater,
): SigningKeyService<A>
export function signingKeyService<A extends Actor, Tx>(
  signingKeys: SigningKeyOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: PerformNow,
): Synchronous<SigningKeyService<A>>
export function signingKeyService<A extends Actor, Tx>(
  signingKeys: SigningKeyOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<SigningKeyService<A>>
export function signingKeyService<A extends Actor, Tx>(
  signingKeys: SigningKeyOperations<A, Tx>,
  open: OpenCall<A, Tx>,
  perform: Perform,
): Prompt<SigningKeyService<A>> {
  return {
    publicKey: (actor, request, options) => perform(signingKeys.publicKey(open(actor, options), request)),
  }
}
