import { createHash } from 'node:crypto'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'

/** What an operator is warned of. */
export type Validity = Pick<PublicKey, 'expiresAt' | 'isRevoked'>

/** Creates what a source returns. */
export function toPublicKey(
  format: SigningKeyFormat,
  text: string,
  { expiresAt, isRevoked }: Validity = {},
): PublicKey {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  return { format, text, etag, ...(expiresAt && { expiresAt }), ...(isRevoked && { isRevoked }) }
}

/** What `describeKey` says about a key. */
export interface KeyDescription {
  readonly format: SigningKeyFormat
  /** `rsa`, `ed25519`, `ecdsa` or another; an SSH certificate ends in `-cert`, a key on a security key in `-sk`. */
  readonly algorithm: string
  /** The size of the key in bits. */
  readonly bits: number
  /** As gpg shows it, 40 digits; or as ssh-keygen does, `SHA256:…`. */
  readonly fingerprint: string
  /** The user ids of an OpenPGP key. */
  readonly userIds?: readonly string[]
  /** The comment of an SSH key. */
  readonly comment?: string | undefined
  /** When an OpenPGP key was created, or from when an SSH certificate is valid. */
  readonly created?: Date | undefined
  /** When the key, or the subkey that signs, expires. Undefined: never. */
  readonly expires?: Date | undefined
  /** Whether the key, or every subkey that signs, is revoked. */
  readonly isRevoked: boolean
}
