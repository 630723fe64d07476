import { decodeBase64 } from './base64.ts'
import type { KeyBlock } from './key-blocks.ts'
import { isPlainRemark } from './remark.ts'
import { unreadableKey } from './unreadable-key.ts'

/** What an armor block holds (RFC 9580, section 6). */
interface OpenpgpArmor {
  readonly bytes: Uint8Array
  /** Whether its header lines are known ones with plain remarks, so that the block can be shown as it is. */
  readonly isPlain: boolean
}

const HEADER = /^(\w+): ?(.*)$/
const KNOWN_HEADER = /^(?:Version|Comment|Charset|Hash|MessageID): /

/**
 * Decodes an armor block: header lines, a blank line, base64, and the checksum when there is one.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when a line is none of these, or the checksum is wrong
 */
export function readArmor(block: KeyBlock): OpenpgpArmor {
  const blank = block.body.findIndex((line) => line.trim() === '')
  const headers = block.body.slice(0, Math.max(blank, 0))
  const lines = block.body.slice(blank + 1).map((line) => line.trim())
  while (lines.at(-1) === '') lines.pop()
  const checksum = lines.at(-1)?.startsWith('=') ? lines.pop() : undefined
  const bytes = decodeBase64(lines.join(''))
  const matches = bytes !== undefined && (checksum === undefined || checksum === `=${checksumOf(bytes)}`)
  if (blank < 0 || !matches || !headers.every((line) => HEADER.test(line))) {
    throw unreadableKey('the armor of the OpenPGP key is damaged; export it again with gpg --export --armor')
  }

  return { bytes, isPlain: headers.every(isPlainHeader) }
}

/** Writes the armor of a public key: lines of 60 characters, and the checksum, without which old GnuPG misreads some. */
export function writePublicArmor(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,60}/g) ?? []
  const end = [`=${checksumOf(bytes)}`, '-----END PGP PUBLIC KEY BLOCK-----', '']
  return ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '', ...lines, ...end].join('\n')
}

function isPlainHeader(line: string): boolean {
  return KNOWN_HEADER.test(line) && isPlainRemark(line)
}

/** The CRC-24 of RFC 9580, section 6.1, in base64. */
function checksumOf(bytes: Uint8Array): string {
  let crc = 0xb704ce
  for (const byte of bytes) {
    crc ^= byte << 16
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x800000 ? (crc << 1) ^ 0x1864cfb : crc << 1
  }

  return Buffer.from([crc >> 16, crc >> 8, crc]).toString('base64')
}
