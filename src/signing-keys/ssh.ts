import type { SigningKeySource } from '../core/ports.ts'
import { isOpenpgpBlock, requireOneKey } from './key-format.ts'
import { MAX_SSH_KEY_BYTES, materialFromText, splitKeyText, unreadableKey } from './key-text.ts'
import { LazyKey } from './lazy-key.ts'
import { publicLineOfOpensshKey } from './openssh-private-key.ts'
import { publicLineOfPem } from './pem-key.ts'
import { looksLikeSshLine, readSshLine } from './ssh-line.ts'

const TOO_LARGE_FOR_SSH = 'an SSH or PEM key may have at most 64 KiB; give a file with one key and nothing else'

/**
 * Returns the public line of an SSH key text of any kind: a public line, an OpenSSH private key, or PEM; at most
 * 64 KiB.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export function sshPublicLine(text: string): string {
  if (Buffer.byteLength(text) > MAX_SSH_KEY_BYTES) throw unreadableKey(TOO_LARGE_FOR_SSH)

  const parts = splitKeyText(text)
  requireOneKey(parts)
  const [block] = parts.blocks
  if (block === undefined) return readOnlyLine(parts.outside)
  if (isOpenpgpBlock(block)) throw unreadableKey('it is an OpenPGP key, not an SSH key')

  return block.label === 'OPENSSH PRIVATE KEY' ? publicLineOfOpensshKey(block) : publicLineOfPem(block)
}

function readOnlyLine(lines: readonly string[]): string {
  const [line, ...others] = lines
  if (line === undefined || others.length > 0 || !looksLikeSshLine(line)) {
    throw unreadableKey('there are other lines beside the SSH public key; give only the public line')
  }

  return readSshLine(line)
}

/**
 * Creates a signing key source from an SSH key: a public line (with or without git's prefix `key::`, which is removed),
 * an OpenSSH private key with or without a passphrase, or PEM. The key is parsed when it is first requested. A key that
 * cannot be parsed is `SIGNING_KEY_UNREADABLE` at that time. Only the public line is ever published.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param key - the key itself, at most 64 KiB; for a file use `openKeyFile`
 * @throws TypeError when the key is not a text
 */
export function sshKey(key: string): SigningKeySource {
  if (typeof key !== 'string') throw new TypeError('sshKey takes the key as a string; for a file use openKeyFile')

  return new LazyKey('ssh', () => sshPublicLine(materialFromText(key).text))
}
