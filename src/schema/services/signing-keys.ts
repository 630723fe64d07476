import type { ActionFacts } from '../access.ts'
import type { Id } from '../ids.ts'

/** The two formats that an instance's signing key can have. */
export type SigningKeyFormat = 'openpgp' | 'ssh'

/** The instance's public signing key. */
export interface PublicKey {
  readonly format: SigningKeyFormat
  /**
   * The key as it is served: an armored OpenPGP key, or an OpenSSH public key line that ends in a newline. Keys in rotation
   * are one armored block, or one line each, the current key first.
   */
  readonly text: string
  /** An HTTP entity tag in quotes. It changes only when the text changes. */
  readonly etag: string
  /** When the current key, or its subkey that signs, expires. Default: never. */
  readonly expiresAt?: Date | undefined
  /** Whether the current key, or every subkey that signs, is revoked. Default: it is not. */
  readonly isRevoked?: boolean | undefined
}

/** What the methods of signing keys ask the policy for. */
export interface SigningKeyAccess {
  readonly action: 'signing-keys.read'
  readonly repositoryId: Id
}

export const signingKeyActions: ActionFacts<SigningKeyAccess> = {
  'signing-keys.read': { concerns: 'repository', allows: 'repository reader' },
}
