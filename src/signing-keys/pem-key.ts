import type { JsonWebKey, KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { decodeBase64 } from './base64.ts'
import { ByteReader, bitLength, hex } from './byte-reader.ts'
import type { KeyBlock } from './key-blocks.ts'
import { LARGE_NUMBER, MAX_EXPONENT_BITS, MAX_NUMBER_BITS } from './key-material.ts'
import { isEcPoint, isRsaModulus } from './private-halves.ts'
import { plainBlobType, SSH_CURVES, sshInteger, sshString } from './ssh-blob.ts'
import { writeSshLine } from './ssh-line.ts'
import { unreadableKey } from './unreadable-key.ts'

/** Tags of DER elements (X.690, section 8). */
const TAG = { integer: 0x02, octets: 0x04, identifier: 0x06, sequence: 0x30, parameters: 0xa0 } as const

/** Object identifiers, as DER writes them: algorithms (RFC 3279, RFC 8410) and curves (RFC 5480). */
const RSA = '2a864886f70d010101'
const EC = '2a8648ce3d0201'
const ED25519 = '2b6570'
const DSA = '2a8648ce380401'
const CURVES = new Set(['2a8648ce3d030107', '2b81040022', '2b81040023'])

/** How a block is written. */
type Form = (
  | { readonly isPrivate: true; readonly type: 'pkcs1' | 'pkcs8' | 'sec1' }
  | { readonly isPrivate: false; readonly type: 'pkcs1' | 'spki' }
) & {
  /** Finds the algorithm without reading the key: OpenSSL computes as it reads, for minutes when a number is large. */
  readonly algorithm: (key: ByteReader) => string | undefined
}

const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['RSA PRIVATE KEY', { type: 'pkcs1', isPrivate: true, algorithm: () => RSA }],
  ['RSA PUBLIC KEY', { type: 'pkcs1', isPrivate: false, algorithm: rsaPublic }],
  ['EC PRIVATE KEY', { type: 'sec1', isPrivate: true, algorithm: ecPrivate }],
  ['PRIVATE KEY', { type: 'pkcs8', isPrivate: true, algorithm: (key) => key.element(TAG.integer) && named(key) }],
  ['PUBLIC KEY', { type: 'spki', isPrivate: false, algorithm: named }],
])

/**
 * The SSH public line of a PEM block: PKCS#1, SEC 1, PKCS#8 or a subject's public key. It has no comment: PEM has none.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`, also for a DSA key, and for an encrypted one, whose public half is hidden
 */
export function publicLineOfPem(block: KeyBlock): string {
  if (isEncrypted(block)) {
    throw unreadableKey('it is a PEM private key under a passphrase, which hides its public half; give its .pub file')
  }
  if (block.label === 'DSA PRIVATE KEY') throw dsaKey()

  const form = FORMS.get(block.label)
  if (form === undefined) throw unreadableKey('it is not a kind of key that SSH knows; give a .pub file')

  const blob = publicBlob(form, decodeBase64(block.body.map((line) => line.trim()).join('')))
  const type = blob && plainBlobType(blob)
  if (blob === undefined || type === undefined) throw damaged()
  return writeSshLine(blob, type)
}

function isEncrypted(block: KeyBlock): boolean {
  const isHeader = (line: string) => line.startsWith('Proc-Type:') && line.includes('ENCRYPTED')
  return block.label === 'ENCRYPTED PRIVATE KEY' || block.body.some(isHeader)
}

function publicBlob(form: Form, der: Buffer | undefined): Buffer | undefined {
  const outer = new ByteReader(der ?? new Uint8Array())
  const content = outer.element(TAG.sequence)
  if (der === undefined || content === undefined || !outer.done) return undefined

  const algorithm = form.algorithm(new ByteReader(content))
  if (algorithm === DSA) throw dsaKey()
  if (algorithm !== RSA && algorithm !== EC && algorithm !== ED25519) return undefined

  const key = readKey(form, der)
  const jwk = key.export({ format: 'jwk' })
  if (algorithm === RSA) return rsaBlob(jwk, form.isPrivate)
  if (algorithm === EC) return ecBlob(jwk, form.isPrivate)
  return Buffer.concat([sshString('ssh-ed25519'), sshString(decoded(jwk.x))])
}

function readKey(form: Form, key: Buffer): KeyObject {
  try {
    return form.isPrivate
      ? createPrivateKey({ key, format: 'der', type: form.type })
      : createPublicKey({ key, format: 'der', type: form.type })
  } catch (cause) {
    throw damaged(cause)
  }
}

function rsaBlob({ n, e, p, q }: JsonWebKey, isPrivate: boolean): Buffer | undefined {
  const [modulus, exponent] = [decoded(n), decoded(e)]
  if (bitLength(modulus) > MAX_NUMBER_BITS || bitLength(exponent) > MAX_EXPONENT_BITS) throw unreadableKey(LARGE_NUMBER)
  if (isPrivate && !isRsaModulus(modulus, decoded(p), decoded(q))) return undefined

  return Buffer.concat([sshString('ssh-rsa'), sshInteger(exponent), sshInteger(modulus)])
}

function ecBlob({ crv, x, y, d }: JsonWebKey, isPrivate: boolean): Buffer | undefined {
  const name = `nist${(crv ?? '').replace('-', '').toLowerCase()}`
  const [, curve] = Object.entries(SSH_CURVES).find(([each]) => each === name) ?? []
  const point = Buffer.concat([Buffer.of(4), decoded(x), decoded(y)])
  if (curve === undefined || (isPrivate && !isEcPoint(point, curve, decoded(d)))) return undefined

  return Buffer.concat([sshString(`ecdsa-sha2-${name}`), sshString(name), sshString(point)])
}

/** The algorithm that PKCS#8 and a subject's public key name; a curve must be named, and one that SSH knows. */
function named(key: ByteReader): string | undefined {
  const fields = new ByteReader(key.element(TAG.sequence) ?? new Uint8Array())
  const algorithm = hex(fields.element(TAG.identifier) ?? new Uint8Array())
  return algorithm === EC ? curveOf(fields) : algorithm
}

function ecPrivate(key: ByteReader): string | undefined {
  const numbers = key.element(TAG.integer) && key.element(TAG.octets)
  return numbers && curveOf(new ByteReader(key.element(TAG.parameters) ?? new Uint8Array()))
}

function curveOf(fields: ByteReader): string | undefined {
  return CURVES.has(hex(fields.element(TAG.identifier) ?? new Uint8Array())) ? EC : undefined
}

/** Two numbers and nothing else: Node reads a private key under this label too. */
function rsaPublic(key: ByteReader): string | undefined {
  return key.element(TAG.integer) && key.element(TAG.integer) && key.done ? RSA : undefined
}

function decoded(value: string | undefined): Buffer {
  return Buffer.from(value ?? '', 'base64url')
}

function dsaKey(): Error {
  return unreadableKey('it is a DSA key, which is not read from PEM; give its .pub file')
}

function damaged(cause?: unknown): Error {
  return unreadableKey('the PEM key is damaged or of a kind that SSH does not know; give its .pub file', cause)
}
