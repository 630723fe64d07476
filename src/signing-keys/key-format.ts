import type { SigningKeyFormat } from '../schema/records.ts'
import type { KeyMaterial, KeyParts } from './key-text.ts'
import { splitKeyText, unreadableKey } from './key-text.ts'
import { looksLikeSshLine } from './ssh-line.ts'

/**
 * Determines the format of a key from its content, without parsing the key.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the content is not a key, or contains more than one
 */
export function keyFormat(material: KeyMaterial): SigningKeyFormat {
  if (material.kind === 'binary') return 'openpgp'

  const parts = splitKeyText(material.text)
  requireOneKey(parts)
  return parts.blocks.some(isOpenpgpBlock) ? 'openpgp' : 'ssh'
}

/**
 * Checks that a text contains one key. If it contained more, it would be unclear which one is meant, and one of them
 * might be private.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export function requireOneKey(parts: KeyParts): void {
  const keys = parts.blocks.length + parts.outside.filter(looksLikeSshLine).length
  if (keys === 0) throw unreadableKey('it is neither an OpenPGP nor an SSH key; give an exported key or a .pub file')
  if (keys > 1) throw unreadableKey('it contains more than one key; give a file with only the public key')
}

/** Whether a block is OpenPGP armor. */
export function isOpenpgpBlock(block: { readonly label: string }): boolean {
  return block.label.startsWith('PGP ')
}
