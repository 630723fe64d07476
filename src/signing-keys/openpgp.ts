import type { SigningKeySource } from '../core/ports.ts'
import { sameBytes } from './byte-reader.ts'
import { isOpenpgpBlock, requireOneKey } from './key-format.ts'
import type { KeyBlock, KeyMaterial } from './key-text.ts'
import {
  decodeBase64,
  isPlainComment,
  materialFromBytes,
  materialFromText,
  splitKeyText,
  unreadableKey,
} from './key-text.ts'
import { LazyKey } from './lazy-key.ts'
import type { OpenpgpPacket } from './openpgp-packets.ts'
import { joinPackets, PACKET, splitPackets } from './openpgp-packets.ts'
import { publicKeyPackets } from './openpgp-public-key.ts'

/** The content of an armor block (RFC 9580, section 6). */
interface OpenpgpArmor {
  readonly bytes: Uint8Array
  /** Whether all header lines are known ones with plain comments, so that the block can be published unchanged. */
  readonly isPlain: boolean
}

const HEADER = /^(\w+): ?(.*)$/
const KNOWN_HEADER = /^(?:Version|Comment|Charset|Hash|MessageID): /

/**
 * Decodes an armor block: header lines, a blank line, base64, and an optional checksum.
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

/**
 * Writes the armor of a public key: lines of 60 characters, and a checksum, without which old versions of GnuPG misread
 * some keys.
 */
function writePublicArmor(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,60}/g) ?? []
  const end = [`=${checksumOf(bytes)}`, '-----END PGP PUBLIC KEY BLOCK-----', '']
  return ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '', ...lines, ...end].join('\n')
}

function isPlainHeader(line: string): boolean {
  return KNOWN_HEADER.test(line) && isPlainComment(line)
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

const PUBLIC_LABEL = 'PGP PUBLIC KEY BLOCK'

/**
 * Returns the armored public half of an OpenPGP key: what the key itself has signed. Armor that contains nothing else
 * is returned unchanged, without the text around it. Every other form is armored again.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function openpgpPublicText(material: KeyMaterial): Promise<string> {
  const block = material.kind === 'text' ? openpgpBlock(material.text) : undefined
  const armor = block && readArmor(block)
  const bytes = armor?.bytes ?? (material.kind === 'binary' ? material.bytes : new Uint8Array())
  const packets = splitPackets(bytes)
  requireOnePrimaryKey(packets)

  const published = await publicKeyPackets(packets)
  const isWhole = block?.label === PUBLIC_LABEL && armor?.isPlain === true && areSame(packets, published)
  return isWhole ? asItIs(block) : writePublicArmor(joinPackets(published))
}

function openpgpBlock(text: string): KeyBlock {
  const parts = splitKeyText(text)
  requireOneKey(parts)
  const [block] = parts.blocks
  if (block === undefined || !isOpenpgpBlock(block)) throw unreadableKey('it is an SSH key, not an OpenPGP key')

  return block
}

function requireOnePrimaryKey(packets: readonly OpenpgpPacket[]): void {
  const primary = packets.filter(({ tag }) => tag === PACKET.publicKey || tag === PACKET.secretKey)
  if (primary.length === 0) throw unreadableKey('there is no OpenPGP key in it; export one with gpg --export --armor')
  if (primary.length > 1) throw unreadableKey('it contains more than one OpenPGP key; export only the signing key')
}

function areSame(packets: readonly OpenpgpPacket[], others: readonly OpenpgpPacket[]): boolean {
  if (packets.length !== others.length) return false

  return packets.every(({ tag, body }, index) => others[index]?.tag === tag && sameBytes(others[index]?.body, body))
}

function asItIs(block: KeyBlock): string {
  return [`-----BEGIN ${block.label}-----`, ...block.body, `-----END ${block.label}-----`, ''].join('\n')
}

/**
 * Creates a signing key source from an OpenPGP key, public or private, armored or binary. A private key's passphrase is
 * not needed. The key is parsed when it is first requested. A key that cannot be parsed is `SIGNING_KEY_UNREADABLE` at
 * that time. Only what the key itself has signed is ever published. Public armor is published unchanged; every other
 * form is armored again.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param key - the key itself, at most 1 MiB; bytes are copied; for a file use `openKeyFile`
 * @throws TypeError when the key is neither a text nor bytes
 */
export function openpgpKey(key: string | Uint8Array): SigningKeySource {
  if (typeof key !== 'string' && !(key instanceof Uint8Array)) {
    throw new TypeError('openpgpKey takes the key as a string or as bytes; for a file use openKeyFile')
  }

  const own = typeof key === 'string' ? key : Uint8Array.from(key)
  return new LazyKey('openpgp', () =>
    openpgpPublicText(typeof own === 'string' ? materialFromText(own) : materialFromBytes(own)),
  )
}
