import type { Face } from '../face.ts'
import { face } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { SigningKeyService } from '../services.ts'
import type { SigningKeyOperations } from './signing-key-operations.ts'

/** The signing-key service over its operations. */
export function signingKeyService<A extends Actor, Tx>(
  signingKeys: SigningKeyOperations<A, Tx>,
): Face<SigningKeyService<A>, A, Tx> {
  return face<SigningKeyService<A>, A, Tx>((open, perform) => ({
    publicKey: (actor, request, options) => perform(signingKeys.publicKey(open(actor, options), request)),
  }))
}
