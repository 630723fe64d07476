import type { SigningKeySource } from '../core/ports.ts'
import { materialFromBytes, materialFromText } from './key-material.ts'
import { openpgpPublicText } from './openpgp-public-text.ts'
import { ParsedKey } from './parsed-key.ts'

/**
 * A signing key source from an OpenPGP key, public or private, armored or binary; a private key's passphrase is not
 * needed. It is parsed when first asked for, and only what the key itself has signed is ever given out: public armor as it
 * is, everything else armored again. What cannot be parsed is `SIGNING_KEY_UNREADABLE` when the key is asked for.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param key - the key itself, at most 1 MiB; bytes are copied; for a file use `openKeyFile`
 * @throws TypeError when the key is neither a text nor bytes
 */
export function openpgpKey(key: string | Uint8Array): SigningKeySource {
  if (typeof key !== 'string' && !(key instanceof Uint8Array)) {
    throw new TypeError('openpgpKey takes the key as a text or as bytes; for a file use openKeyFile')
  }

  const own = typeof key === 'string' ? key : Uint8Array.from(key)
  return new ParsedKey('openpgp', () =>
    openpgpPublicText(typeof own === 'string' ? materialFromText(own) : materialFromBytes(own)),
  )
}
