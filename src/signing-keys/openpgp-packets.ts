import { ByteReader } from './byte-reader.ts'
import { MAX_PACKETS, unreadableKey } from './key-text.ts'

/** One packet of an OpenPGP key (RFC 9580, section 4). */
export interface OpenpgpPacket {
  readonly tag: number
  readonly body: Uint8Array
}

/** The packet types that this library uses. Source: RFC 9580, section 5. */
export const PACKET = {
  signature: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  marker: 10,
  trust: 12,
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

/** Whether a public key may contain a packet of this type. Unknown types do not count. */
export function isPublicPacket(packet: OpenpgpPacket): boolean {
  return PUBLIC_TAGS.has(packet.tag)
}

/**
 * Splits an OpenPGP key into packets, with the old or the new form of packet headers. Every byte belongs to a packet.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when a packet is cut off, when its length is indeterminate or partial,
 * which never occurs in a key, or when there are more than 16,384 packets
 */
export function splitPackets(bytes: Uint8Array): readonly OpenpgpPacket[] {
  const packets: OpenpgpPacket[] = []
  const reader = new ByteReader(bytes)
  while (!reader.done) {
    if (packets.length === MAX_PACKETS) {
      throw unreadableKey(
        'the OpenPGP key has more than 16,384 packets; export it with --export-options export-minimal',
      )
    }
    const first = reader.unsigned(1) ?? 0
    const body = first < 0x80 ? undefined : readBody(reader, first)
    if (body === undefined) throw damaged()
    packets.push({ tag: first >= 0xc0 ? first & 0x3f : (first >> 2) & 0x0f, body })
  }

  return packets
}

function readBody(reader: ByteReader, first: number): Uint8Array | undefined {
  const size = [1, 2, 4][first & 0x03]
  if (first >= 0xc0) return reader.take(readLength(reader))
  return size === undefined ? undefined : reader.take(reader.unsigned(size))
}

/**
 * Reads the length of a packet or a subpacket in the new form (RFC 9580, sections 4.2.1 and 5.2.3.7).
 *
 * @param partial - the lowest first byte of a partial length; subpackets have no partial lengths
 */
export function readLength(reader: ByteReader, partial = 224): number | undefined {
  const first = reader.unsigned(1) ?? 254
  if (first < 192) return first
  if (first === 255) return reader.unsigned(4)
  if (first >= partial) return undefined

  const second = reader.unsigned(1)
  return second === undefined ? undefined : (first - 192) * 256 + second + 192
}

/** Writes packets, each with the shortest header of the new form. */
export function joinPackets(packets: readonly OpenpgpPacket[]): Buffer {
  return Buffer.concat(packets.flatMap(({ tag, body }) => [Buffer.of(0xc0 | tag), writeLength(body.length), body]))
}

function writeLength(length: number): Buffer {
  if (length < 192) return Buffer.of(length)
  if (length < 8384) return Buffer.of(((length - 192) >> 8) + 192, (length - 192) & 0xff)

  const bytes = Buffer.of(255, 0, 0, 0, 0)
  bytes.writeUInt32BE(length, 1)
  return bytes
}

function damaged(): Error {
  return unreadableKey('the OpenPGP key is damaged or truncated; export it again with gpg --export --armor')
}
