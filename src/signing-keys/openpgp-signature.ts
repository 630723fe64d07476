import { createHash, createPublicKey, verify } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { ByteReader, hex } from './byte-reader.ts'
import type { OpenpgpKeyPacket, Verification } from './openpgp-key-packet.ts'
import { readLength } from './openpgp-packets.ts'

/** A signature packet of version 4 or 6 (RFC 9580, section 5.2). */
export interface OpenpgpSignature {
  readonly version: 4 | 6
  readonly type: number
  readonly algorithm: number
  /** The name of the hash algorithm in Node. */
  readonly hash: string
  /** Seconds since 1970. */
  readonly createdAt: number
  /** The fingerprints and key ids of the issuer that the signature claims, in hexadecimal. */
  readonly issuers: readonly string[]
  /** The bytes of the packet that the signature covers: from the version to the end of the hashed subpackets. */
  readonly covered: Uint8Array
  /** The unhashed subpackets, which the signature does not cover. */
  readonly loose: readonly Subpacket[]
  /** The first two bytes of the hash. */
  readonly hint: Uint8Array
  readonly salt: Uint8Array
  /** The signature itself: one or two numbers. */
  readonly numbers: readonly Uint8Array[]
  /** The bytes from the hint to the end of the packet. */
  readonly rest: Uint8Array
}

/** A subpacket of a signature (RFC 9580, section 5.2.3.7). */
export interface Subpacket {
  readonly type: number
  readonly data: Uint8Array
  /** The fingerprint or key id of the issuer that this subpacket names, in hexadecimal. */
  readonly issuer: string | undefined
  /** The subpacket including its length and type. */
  readonly whole: Uint8Array
}

/** The subpacket types that this library uses (RFC 9580, section 5.2.3.8). */
export const SUBPACKET = { creation: 2, issuer: 16, embedded: 32, issuerFingerprint: 33 } as const

/** The maximum number of hashed or unhashed subpackets in one signature. Signatures in use have a dozen. */
const MAX_SUBPACKETS = 100

/** Hash algorithms (RFC 9580, section 9.5): the name in Node, and the length of a salt in version 6. */
const HASHES: ReadonlyMap<number | undefined, readonly [name: string, salt: number | undefined]> = new Map([
  [1, ['md5', undefined]],
  [2, ['sha1', undefined]],
  [3, ['ripemd160', undefined]],
  [8, ['sha256', 16]],
  [9, ['sha384', 24]],
  [10, ['sha512', 32]],
  [11, ['sha224', 16]],
  [12, ['sha3-256', 16]],
  [14, ['sha3-512', 32]],
])

/**
 * Reads a signature packet. Every byte belongs to a subpacket or a number.
 *
 * @returns undefined if it is damaged, of an unknown version or algorithm, or has too many subpackets
 */
export function readSignature(packet: Uint8Array): OpenpgpSignature | undefined {
  const reader = new ByteReader(packet)
  const version = reader.unsigned(1)
  if (version !== 4 && version !== 6) return undefined

  const [type, algorithm] = [reader.unsigned(1), reader.unsigned(1)]
  const [hash, saltLength] = HASHES.get(reader.unsigned(1)) ?? []
  const size = version === 4 ? 2 : 4
  const hashed = readSubpackets(reader, size)
  const covered = packet.subarray(0, packet.length - reader.left)
  const loose = readSubpackets(reader, size)
  const rest = packet.subarray(packet.length - reader.left)
  const hint = reader.take(2)
  const salt = version === 4 ? new Uint8Array() : reader.take(reader.unsigned(1) ?? 0)
  const numbers = readNumbers(reader, algorithm)
  if (type === undefined || algorithm === undefined || hash === undefined || numbers === undefined) return undefined
  if (hashed === undefined || loose === undefined || hint === undefined || salt === undefined) return undefined

  const createdAt = creationOf(hashed)
  const isSalted = version === 4 || salt.length === saltLength
  if (!reader.done || createdAt === undefined || !isSalted) return undefined
  const issuers = [...hashed, ...loose].flatMap(({ issuer }) => issuer ?? [])
  return { version, type, algorithm, hash, createdAt, issuers, covered, loose, hint, salt, numbers, rest }
}

/** Writes a signature packet with these unhashed subpackets. */
export function writeSignature(signature: OpenpgpSignature, loose: readonly Subpacket[]): Buffer {
  const size = signature.version === 4 ? 2 : 4
  const subpackets = Buffer.concat(loose.map(({ whole }) => whole))
  const length = Buffer.alloc(size)
  length.writeUIntBE(subpackets.length, 0, size)
  return Buffer.concat([signature.covered, length, subpackets, signature.rest])
}

/**
 * Whether a key has made this signature over this data. Node verifies it on another thread, so that a slow key does not
 * block the process.
 */
export async function isSignedBy(
  signature: OpenpgpSignature,
  key: OpenpgpKeyPacket,
  data: readonly Uint8Array[],
): Promise<boolean> {
  const { verification } = key
  if (verification === undefined || signature.version !== key.version) return false
  if (signature.algorithm !== key.algorithm) return false

  await setImmediate() // a hash of 1 MiB takes milliseconds, and there may be a thousand
  const number = joinNumbers(signature, verification)
  const signed = Buffer.concat([signature.salt, ...data, signature.covered, trailer(signature)])
  const digest = createHash(signature.hash).update(signed).digest()
  if (number === undefined || Buffer.compare(digest.subarray(0, 2), signature.hint) !== 0) return false
  return isVerified(verification, signature.hash, { signed, digest, number })
}

function isVerified(
  { spki, isEdwards }: Verification,
  hash: string,
  data: { readonly signed: Buffer; readonly digest: Buffer; readonly number: Buffer },
): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (error: Error | null, isValid: boolean) => resolve(error === null && isValid)
    try {
      const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
      if (isEdwards) verify(null, data.digest, key, data.number, settle)
      else verify(hash, data.signed, { key, dsaEncoding: 'ieee-p1363' }, data.number, settle)
    } catch {
      resolve(false) // the point is not on the curve, or OpenSSL does not know the algorithm
    }
  })
}

/** Concatenates the numbers, each padded to the length that the key requires. */
function joinNumbers({ numbers }: OpenpgpSignature, { numberBytes, isEdwards }: Verification): Buffer | undefined {
  const [only] = numbers
  if (isEdwards && numbers.length === 1 && only !== undefined) return Buffer.from(only)
  if (numbers.some((number) => number.length > numberBytes)) return undefined

  return Buffer.concat(numbers.flatMap((number) => [Buffer.alloc(numberBytes - number.length), number]))
}

/** The bytes that are hashed last (RFC 9580, section 5.2.4). */
function trailer({ version, covered }: OpenpgpSignature): Buffer {
  const bytes = Buffer.of(version, 0xff, 0, 0, 0, 0)
  bytes.writeUInt32BE(covered.length, 2)
  return bytes
}

function readSubpackets(reader: ByteReader, size: number): readonly Subpacket[] | undefined {
  const bytes = reader.take(reader.unsigned(size))
  if (bytes === undefined) return undefined

  const subpackets: Subpacket[] = []
  const inner = new ByteReader(bytes)
  while (!inner.done) {
    const start = bytes.length - inner.left
    const content = inner.take(readLength(inner, 255))
    if (content === undefined || content.length === 0 || subpackets.length === MAX_SUBPACKETS) return undefined
    const whole = bytes.subarray(start, bytes.length - inner.left)
    const [type, data] = [(content[0] ?? 0) & 0x7f, content.subarray(1)]
    subpackets.push({ type, data, issuer: issuerIn(type, data), whole })
  }
  return subpackets
}

/** Reads the numbers of a signature by its algorithm (RFC 9580, section 5.2.3). */
function readNumbers(reader: ByteReader, algorithm: number | undefined): readonly Uint8Array[] | undefined {
  if (algorithm === 27 || algorithm === 28) return all([reader.take(algorithm === 27 ? 64 : 114)])
  if (algorithm === 1 || algorithm === 3) return all([reader.mpi()])
  if (algorithm === 17 || algorithm === 19 || algorithm === 22) return all([reader.mpi(), reader.mpi()])

  return undefined
}

function all(numbers: readonly (Uint8Array | undefined)[]): readonly Uint8Array[] | undefined {
  const found = numbers.filter((number) => number !== undefined)
  return found.length === numbers.length ? found : undefined
}

function creationOf(subpackets: readonly Subpacket[]): number | undefined {
  const found = subpackets.find(({ type }) => type === SUBPACKET.creation)
  return found?.data.length === 4 ? new ByteReader(found.data).unsigned(4) : undefined
}

function issuerIn(type: number, data: Uint8Array): string | undefined {
  if (type === SUBPACKET.issuer) return data.length === 8 ? hex(data) : undefined

  const isFingerprint = type === SUBPACKET.issuerFingerprint && (data.length === 21 || data.length === 33)
  return isFingerprint ? hex(data.subarray(1)) : undefined
}
