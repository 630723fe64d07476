import { createHash } from 'node:crypto'
import { ByteReader, bitLength, hex } from './byte-reader.ts'
import { LARGE_NUMBER, MAX_DSA_BITS, MAX_EXPONENT_BITS, MAX_NUMBER_BITS, unreadableKey } from './key-text.ts'

/** The public fields of a key packet, public or secret (RFC 9580, section 5.5). */
export interface OpenpgpKeyPacket {
  readonly version: 4 | 6
  readonly algorithm: number
  /** The body of the public packet. */
  readonly body: Uint8Array
  /** Whether the packet contained nothing else. */
  readonly isPublic: boolean
  /** The body in the form that signatures cover (RFC 9580, section 5.2.4). */
  readonly signed: Buffer
  /** The fingerprint and key id in hexadecimal. A signature names its issuer by one of them. */
  readonly names: readonly string[]
  /** How to verify signatures by the key; undefined if it cannot sign. */
  readonly verification: Verification | undefined
}

/** What `node:crypto` needs to verify a signature. */
export interface Verification {
  /** The public key in X.509 form (RFC 5280, section 4.1.2.7). */
  readonly spki: Buffer
  /** The number of bytes of each number in a signature. */
  readonly numberBytes: number
  /** Whether the key signs the hash of the data instead of the data. */
  readonly isEdwards: boolean
}

/**
 * Reads the public fields of a key packet. Every length has one correct value: that of the curve, or that of the number
 * that is stored.
 *
 * @returns undefined if the fields are damaged, or of an unknown version or algorithm
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` for an RSA key that is too large to verify
 */
export function readKeyPacket(packet: Uint8Array): OpenpgpKeyPacket | undefined {
  const reader = new ByteReader(packet)
  const [version, , algorithm] = [reader.unsigned(1), reader.take(4), reader.unsigned(1)]
  if ((version !== 4 && version !== 6) || algorithm === undefined) return undefined

  const length = version === 6 ? reader.unsigned(4) : undefined
  const before = reader.left
  const material = MATERIALS.get(algorithm)?.(reader)
  if (material === undefined || (version === 6 && before - reader.left !== length)) return undefined

  const body = packet.subarray(0, packet.length - reader.left)
  const signed = Buffer.concat([prefixOf(version, body.length), body])
  const verification = material === 'silent' ? undefined : material
  return { version, algorithm, body, isPublic: reader.done, signed, names: namesOf(version, signed), verification }
}

function prefixOf(version: 4 | 6, length: number): Buffer {
  const prefix = version === 4 ? Buffer.of(0x99, 0, 0) : Buffer.of(0x9b, 0, 0, 0, 0)
  prefix.writeUIntBE(length, 1, prefix.length - 1)
  return prefix
}

function namesOf(version: 4 | 6, signed: Buffer): readonly string[] {
  const fingerprint = createHash(version === 4 ? 'sha1' : 'sha256')
    .update(signed)
    .digest('hex')
  return [fingerprint, version === 4 ? fingerprint.slice(-16) : fingerprint.slice(0, 16)]
}

type Material = Verification | 'silent' | undefined
type ReadMaterial = (reader: ByteReader) => Material

/** Public-key algorithms (RFC 9580, section 9.1). */
const MATERIALS: ReadonlyMap<number, ReadMaterial> = new Map<number, ReadMaterial>([
  [1, rsa],
  [2, rsa],
  [3, rsa],
  [16, (reader) => (numbers(reader, 3) ? 'silent' : undefined)],
  [17, dsa],
  [18, ecdh],
  [19, ecdsa],
  [
    22,
    (reader) => (hex(octets(reader) ?? NOTHING) === ED25519_LEGACY ? edwards(prefixed(reader), '2b6570') : undefined),
  ],
  [25, (reader) => reader.take(32) && 'silent'],
  [26, (reader) => reader.take(56) && 'silent'],
  [27, (reader) => edwards(reader.take(32), '2b6570')],
  [28, (reader) => edwards(reader.take(57), '2b6571')],
])

const NOTHING = new Uint8Array()
const ED25519_LEGACY = '2b06010401da470f01'
const CURVE25519_LEGACY = '2b060104019755010501'

/**
 * The number of bytes per coordinate of each curve whose points have two coordinates (RFC 9580, section 9.2; RFC 6637;
 * secp256k1 by GnuPG).
 */
const CURVES: ReadonlyMap<string, number> = new Map([
  ['2a8648ce3d030107', 32], // NIST P-256
  ['2b81040022', 48], // NIST P-384
  ['2b81040023', 66], // NIST P-521
  ['2b8104000a', 32], // secp256k1
  ['2b2403030208010107', 32], // brainpoolP256r1
  ['2b240303020801010b', 48], // brainpoolP384r1
  ['2b240303020801010d', 64], // brainpoolP512r1
])

function rsa(reader: ByteReader): Material {
  const [modulus, exponent] = numbers(reader, 2) ?? []
  if (modulus === undefined || exponent === undefined) return undefined
  if (bitLength(exponent) > MAX_EXPONENT_BITS) throw unreadableKey(LARGE_NUMBER)

  const key = der(0x30, integer(modulus), integer(exponent))
  return {
    spki: spki([identifier('2a864886f70d010101'), der(0x05)], key),
    numberBytes: modulus.length,
    isEdwards: false,
  }
}

function dsa(reader: ByteReader): Material {
  const [prime, order, base, half] = numbers(reader, 4) ?? []
  if (prime === undefined || order === undefined || base === undefined || half === undefined) return undefined
  if (bitLength(prime) > MAX_DSA_BITS) throw unreadableKey(LARGE_NUMBER)

  const group = der(0x30, integer(prime), integer(order), integer(base))
  const key = spki([identifier('2a8648ce380401'), group], integer(half))
  return { spki: key, numberBytes: order.length, isEdwards: false }
}

function ecdsa(reader: ByteReader): Material {
  const curve = hex(octets(reader) ?? NOTHING)
  const size = CURVES.get(curve)
  const point = size === undefined ? undefined : uncompressed(reader, size)
  if (size === undefined || point === undefined) return undefined

  return { spki: spki([identifier('2a8648ce3d0201'), identifier(curve)], point), numberBytes: size, isEdwards: false }
}

/**
 * Reads a curve, a point and the key derivation parameters: 3 bytes, of which the first is 1 (RFC 9580, section 11.5).
 */
function ecdh(reader: ByteReader): Material {
  const curve = hex(octets(reader) ?? NOTHING)
  const size = CURVES.get(curve)
  const legacy = curve === CURVE25519_LEGACY ? prefixed(reader) : undefined
  const point = size === undefined ? legacy : uncompressed(reader, size)
  const derivation = octets(reader)
  return point && derivation?.length === 3 && derivation[0] === 1 ? 'silent' : undefined
}

function edwards(point: Uint8Array | undefined, algorithm: string): Material {
  if (point === undefined) return undefined

  // The older form of version 4 has two numbers of 32 bytes; the later form has one of 64 or 114 bytes.
  return { spki: spki([identifier(algorithm)], point), numberBytes: point.length, isEdwards: true }
}

function numbers(reader: ByteReader, count: number): readonly Uint8Array[] | undefined {
  const found = Array.from({ length: count }, () => reader.mpi()).filter((each) => each !== undefined)
  if (found.some((each) => bitLength(each) > MAX_NUMBER_BITS)) throw unreadableKey(LARGE_NUMBER)

  return found.length === count ? found : undefined
}

/** Reads a length of one byte, then that many bytes. */
function octets(reader: ByteReader): Uint8Array | undefined {
  return reader.take(reader.unsigned(1))
}

/** Reads a point in native form: 0x40, then 32 bytes. */
function prefixed(reader: ByteReader): Uint8Array | undefined {
  const point = reader.mpi()
  return point?.length === 33 && point[0] === 0x40 ? point.subarray(1) : undefined
}

/** Reads a point in uncompressed form: 0x04, then two coordinates. */
function uncompressed(reader: ByteReader, size: number): Uint8Array | undefined {
  const point = reader.mpi()
  return point?.length === 1 + 2 * size && point[0] === 0x04 ? point : undefined
}

function spki(algorithm: readonly Buffer[], key: Uint8Array): Buffer {
  return der(0x30, der(0x30, ...algorithm), der(0x03, Buffer.of(0), key))
}

function identifier(oid: string): Buffer {
  return der(0x06, Buffer.from(oid, 'hex'))
}

function integer(bytes: Uint8Array): Buffer {
  return der(0x02, (bytes[0] ?? 0) < 0x80 ? NOTHING : Buffer.of(0), bytes)
}

/** Builds a DER element (X.690, section 8.1). */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const length = content.length
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])

  const size = length < 0x100 ? 1 : 2
  const header = Buffer.of(tag, 0x80 + size, 0, 0).subarray(0, 2 + size)
  header.writeUIntBE(length, 2, size)
  return Buffer.concat([header, content])
}
