import { unreadableKey } from './unreadable-key.ts'

/** One packet of an OpenPGP key (RFC 9580, section 4). */
interface OpenpgpPacket {
  readonly tag: number
  readonly body: Uint8Array
}

/** Packet types that matter here. Source: RFC 9580, section 5. */
export const PACKET = {
  signature: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  userId: 13,
  publicSubkey: 14,
  userAttribute: 17,
} as const

const PUBLIC_TAGS: ReadonlySet<number> = new Set([
  PACKET.signature,
  PACKET.publicKey,
  PACKET.userId,
  PACKET.publicSubkey,
  PACKET.userAttribute,
])

/** Whether a packet is of a type that a public key consists of. What is unknown is not. */
export function isPublicPacket(packet: OpenpgpPacket): boolean {
  return PUBLIC_TAGS.has(packet.tag)
}

/**
 * Takes an OpenPGP key apart, in the old and the new form of packet headers. Every byte belongs to a packet.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when a packet is cut off, or its length is open, which a key's never is
 */
export function splitPackets(bytes: Uint8Array): readonly OpenpgpPacket[] {
  const packets: OpenpgpPacket[] = []
  for (let at = 0; at < bytes.length; ) {
    const { tag, start, length } = readHeader(bytes, at)
    if (start + length > bytes.length) throw damaged()
    packets.push({ tag, body: bytes.subarray(start, start + length) })
    at = start + length
  }

  return packets
}

interface Header {
  readonly tag: number
  readonly start: number
  readonly length: number
}

function readHeader(bytes: Uint8Array, at: number): Header {
  const first = byteAt(bytes, at)
  if (first < 0x80) throw damaged()

  return first >= 0xc0 ? newHeader(bytes, at, first & 0x3f) : oldHeader(bytes, at, first)
}

function oldHeader(bytes: Uint8Array, at: number, first: number): Header {
  const lengthType = first & 0x03
  if (lengthType === 3) throw damaged()

  const size = 2 ** lengthType
  return { tag: (first >> 2) & 0x0f, start: at + 1 + size, length: integerAt(bytes, at + 1, size) }
}

function newHeader(bytes: Uint8Array, at: number, tag: number): Header {
  const first = byteAt(bytes, at + 1)
  if (first < 192) return { tag, start: at + 2, length: first }
  if (first < 224) return { tag, start: at + 3, length: (first - 192) * 256 + byteAt(bytes, at + 2) + 192 }
  if (first < 255) throw damaged()

  return { tag, start: at + 6, length: integerAt(bytes, at + 2, 4) }
}

function integerAt(bytes: Uint8Array, at: number, size: number): number {
  let value = 0
  for (let index = 0; index < size; index += 1) value = value * 256 + byteAt(bytes, at + index)
  return value
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw damaged()

  return byte
}

function damaged(): Error {
  return unreadableKey('the OpenPGP key is damaged or cut off; export it again with gpg --export --armor')
}
