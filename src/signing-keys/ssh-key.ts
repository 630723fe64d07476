import type { SigningKeySource } from '../core/ports.ts'
import { materialFromText } from './key-material.ts'
import { ParsedKey } from './parsed-key.ts'
import { sshPublicLine } from './ssh-public-line.ts'

/**
 * A signing key source from an SSH key: a public line (git's `key::` before it is taken off), an OpenSSH private key, with
 * or without a passphrase, or PEM. It is parsed when first asked for, and only the public line is ever given out.
 * What cannot be parsed is `SIGNING_KEY_UNREADABLE` when the key is asked for. Source: docs/behaviour.md, Signing keys.
 *
 * @param key - the key itself, at most 64 KiB; for a file use `openKeyFile`
 * @throws TypeError when the key is not a text
 */
export function sshKey(key: string): SigningKeySource {
  if (typeof key !== 'string') throw new TypeError('sshKey takes the key as a text; for a file use openKeyFile')

  return new ParsedKey('ssh', () => sshPublicLine(materialFromText(key).text))
}
