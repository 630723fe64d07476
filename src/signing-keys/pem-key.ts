import { ByteReader, bitLength, hex, sameBytes } from './byte-reader.ts'
import type { KeyBlock } from './key-text.ts'
import { decodeBase64, LARGE_NUMBER, MAX_EXPONENT_BITS, MAX_NUMBER_BITS, unreadableKey } from './key-text.ts'
import { ecPoint, ed25519PublicKey, isRsaModulus } from './openssh-private-key.ts'
import { plainBlobType, sshInteger, sshString, writeSshLine } from './ssh-line.ts'

// This module reads the blocks itself. OpenSSL computes with numbers of any size while it reads them, which takes
// minutes for a DSA key of 11 kB. Node's JSON Web Keys are no alternative: their writer ends the process if a private
// number has a wrong length.

/** Tags of DER elements (X.690, section 8; [0] and [1] as PKCS#8 and SEC 1 use them). */
const TAG = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  identifier: 0x06,
  sequence: 0x30,
  zero: 0xa0,
  one: 0xa1,
} as const

/** Object identifiers of algorithms in DER form (RFC 3279, RFC 8410). */
const RSA = '2a864886f70d010101'
const EC = '2a8648ce3d0201'
const ED25519 = '2b6570'
const DSA = '2a8648ce380401'

interface Curve {
  /** The name in SSH. */
  readonly name: string
  /** The name in OpenSSL. */
  readonly openssl: string
  /** The number of bytes per coordinate. */
  readonly size: number
}

/** Curves by their object identifiers (RFC 5480, section 2.1.1.1). */
const CURVES: ReadonlyMap<string, Curve> = new Map([
  ['2a8648ce3d030107', { name: 'nistp256', openssl: 'prime256v1', size: 32 }],
  ['2b81040022', { name: 'nistp384', openssl: 'secp384r1', size: 48 }],
  ['2b81040023', { name: 'nistp521', openssl: 'secp521r1', size: 66 }],
])

/**
 * Builds the SSH form of a public key from the content of a block. Returns `undefined` if the block is not exactly such
 * a key.
 */
type ReadKey = (key: ByteReader) => Buffer | undefined

const READERS: ReadonlyMap<string, ReadKey> = new Map<string, ReadKey>([
  ['RSA PRIVATE KEY', rsaPrivate],
  ['RSA PUBLIC KEY', rsaPublic],
  ['EC PRIVATE KEY', (key) => ecPrivate(key, undefined)],
  ['PRIVATE KEY', pkcs8],
  ['PUBLIC KEY', subjectPublicKey],
])

/**
 * Returns the SSH public line of a PEM block: PKCS#1 (RFC 8017), SEC 1 (RFC 5915), PKCS#8 (RFC 5958) or a subject's
 * public key (RFC 5280). The line has no comment, because PEM has no comments.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`, also for a DSA key, and for an encrypted key, whose public half is
 * hidden
 */
export function publicLineOfPem(block: KeyBlock): string {
  if (isEncrypted(block)) {
    throw unreadableKey('it is a PEM private key with a passphrase, which hides its public half; give its .pub file')
  }
  if (block.label === 'DSA PRIVATE KEY') throw dsaKey()

  const read = READERS.get(block.label)
  if (read === undefined) throw unreadableKey('SSH does not support this kind of key; give a .pub file')

  const der = new ByteReader(decodeBase64(block.body.map((line) => line.trim()).join('')) ?? new Uint8Array())
  const key = inside(der, TAG.sequence)
  const blob = der.done ? read(key) : undefined
  const type = blob && key.done ? plainBlobType(blob) : undefined
  if (blob === undefined || type === undefined) {
    throw unreadableKey('the PEM key is damaged or of a kind that SSH does not support; give its .pub file')
  }
  return writeSshLine(blob, type)
}

function isEncrypted(block: KeyBlock): boolean {
  const isHeader = (line: string) => line.startsWith('Proc-Type:') && line.includes('ENCRYPTED')
  return block.label === 'ENCRYPTED PRIVATE KEY' || block.body.some(isHeader)
}

function rsaPrivate(key: ByteReader): Buffer | undefined {
  const isPlain = sameBytes(key.element(TAG.integer), Buffer.of(0)) // more than two primes would be 1
  const [modulus, exponent, , one, other] = [key.integer(), key.integer(), key.integer(), key.integer(), key.integer()]
  const inverses = [key.integer(), key.integer(), key.integer()]
  const blob = rsaBlob(modulus, exponent)
  if (!isPlain || modulus === undefined || one === undefined || other === undefined) return undefined

  return inverses.every(Boolean) && isRsaModulus(modulus, one, other) ? blob : undefined
}

function rsaPublic(key: ByteReader): Buffer | undefined {
  return rsaBlob(key.integer(), key.integer())
}

function rsaBlob(modulus: Uint8Array | undefined, exponent: Uint8Array | undefined): Buffer | undefined {
  if (modulus === undefined || exponent === undefined) return undefined
  if (bitLength(modulus) > MAX_NUMBER_BITS || bitLength(exponent) > MAX_EXPONENT_BITS) throw unreadableKey(LARGE_NUMBER)

  return Buffer.concat([sshString('ssh-rsa'), sshInteger(exponent), sshInteger(modulus)])
}

/** Computes the point. A point in the key must be the same. The curve may be in the key, outside it, or in both. */
function ecPrivate(key: ByteReader, outer: Curve | undefined): Buffer | undefined {
  const isFirst = sameBytes(key.element(TAG.integer), Buffer.of(1))
  const secret = key.element(TAG.octets)
  const inner = key.next === TAG.zero ? curveIn(inside(key, TAG.zero)) : outer
  const stated = key.next === TAG.one ? bitsIn(inside(key, TAG.one)) : undefined
  if (!isFirst || inner === undefined || (outer !== undefined && inner !== outer)) return undefined
  if (secret === undefined || secret.length > inner.size) return undefined

  const point = ecPoint(inner.openssl, secret)
  if (point === undefined || (stated !== undefined && !sameBytes(stated, point))) return undefined
  return ecBlob(inner, point)
}

function ecBlob({ name }: Curve, point: Uint8Array): Buffer {
  return Buffer.concat([sshString(`ecdsa-sha2-${name}`), sshString(name), sshString(point)])
}

function ed25519Blob(half: Uint8Array): Buffer {
  return Buffer.concat([sshString('ssh-ed25519'), sshString(half)])
}

function pkcs8(key: ByteReader): Buffer | undefined {
  const version = key.element(TAG.integer)
  const algorithm = inside(key, TAG.sequence)
  const name = algorithmIn(algorithm)
  const content = inside(key, TAG.octets)
  if (key.next === TAG.zero) key.element(TAG.zero) // attributes
  if (key.next === 0x81) key.element(0x81) // the public key, which is computed
  if (version?.length !== 1) return undefined
  if (name === ED25519) return seedBlob(content, algorithm.done)

  const curve = name === EC ? curveIn(algorithm) : undefined
  const inner = inside(content, TAG.sequence)
  const blob = name === RSA ? rsaPrivate(inner) : curve && ecPrivate(inner, curve)
  return content.done && inner.done ? blob : undefined
}

function seedBlob(content: ByteReader, isPlain: boolean): Buffer | undefined {
  const seed = content.element(TAG.octets)
  return isPlain && content.done && seed?.length === 32 ? ed25519Blob(ed25519PublicKey(seed)) : undefined
}

function subjectPublicKey(key: ByteReader): Buffer | undefined {
  const algorithm = inside(key, TAG.sequence)
  const name = algorithmIn(algorithm)
  const curve = name === EC ? curveIn(algorithm) : undefined
  const bits = bitsIn(key)
  if (bits === undefined) return undefined
  if (name === ED25519) return ed25519Blob(bits)
  if (curve !== undefined) return ecBlob(curve, bits)

  const content = new ByteReader(bits)
  const inner = inside(content, TAG.sequence)
  const blob = name === RSA ? rsaPublic(inner) : undefined
  return content.done && inner.done ? blob : undefined
}

function algorithmIn(algorithm: ByteReader): string {
  const name = hex(algorithm.element(TAG.identifier) ?? new Uint8Array())
  if (name === DSA) throw dsaKey()

  return name
}

/** Reads a curve given by its name. SSH does not know curves that are given by explicit parameters. */
function curveIn(parameters: ByteReader): Curve | undefined {
  const curve = CURVES.get(hex(parameters.element(TAG.identifier) ?? new Uint8Array()))
  return parameters.done ? curve : undefined
}

/** Reads a bit string that is a whole number of bytes. */
function bitsIn(reader: ByteReader): Uint8Array | undefined {
  const bits = reader.element(TAG.bits)
  return bits?.[0] === 0 && reader.done ? bits.subarray(1) : undefined
}

/** A reader for the content of an element. If the element is missing, the reader has no bytes. */
function inside(reader: ByteReader, tag: number): ByteReader {
  return new ByteReader(reader.element(tag) ?? new Uint8Array())
}

function dsaKey(): Error {
  return unreadableKey('it is a DSA key, which is not supported in PEM; give its .pub file')
}
