import { createECDH, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { ByteReader, sameBytes, toBigInt } from './byte-reader.ts'
import type { KeyBlock } from './key-text.ts'
import { decodeBase64, unreadableKey } from './key-text.ts'
import { plainBlobType, SSH_CURVES, sshString, writeSshLine } from './ssh-line.ts'

// The public half that is stored beside a private key is published only if it belongs to that key: a damaged length
// puts private bytes where public ones belong.

/** Whether an RSA modulus is the product of these two primes. */
export function isRsaModulus(modulus: Uint8Array, one: Uint8Array, other: Uint8Array): boolean {
  if (one.length + other.length > modulus.length + 1) return false

  return one.length > 1 && other.length > 1 && toBigInt(one) * toBigInt(other) === toBigInt(modulus)
}

/**
 * Computes the point that belongs to a private number on a curve, given by its name in OpenSSL. Returns `undefined` if
 * the number is not valid on the curve.
 */
export function ecPoint(curve: string, secret: Uint8Array): Buffer | undefined {
  const pair = createECDH(curve)
  try {
    pair.setPrivateKey(secret)
    return pair.getPublicKey()
  } catch {
    return undefined
  }
}

const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Computes the Ed25519 public key of a private key of 32 bytes. */
export function ed25519PublicKey(seed: Uint8Array): Buffer {
  const key = Buffer.concat([ED25519_PKCS8, seed])
  const { x = '' } = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url')
}

/** Whether `public` is `base` to the power of `secret`, modulo `prime`: the public half of a DSA key. */
function isDsaPublic(numbers: {
  readonly prime: Uint8Array
  readonly base: Uint8Array
  readonly public: Uint8Array
  readonly secret: Uint8Array
}): boolean {
  const modulus = toBigInt(numbers.prime)
  let power = toBigInt(numbers.base) % modulus
  let product = 1n
  for (let rest = toBigInt(numbers.secret); rest > 0n; rest >>= 1n) {
    if (rest & 1n) product = (product * power) % modulus
    power = (power * power) % modulus
  }
  return product === toBigInt(numbers.public)
}

const MAGIC = 'openssh-key-v1\0'
const LABEL = 'OPENSSH PRIVATE KEY'
/** The number of bytes in the authentication tag that each cipher of OpenSSH appends to the private part. */
const TAG_BYTES: ReadonlyMap<string | undefined, number> = new Map([
  ...['aes128-ctr', 'aes192-ctr', 'aes256-ctr', 'aes128-cbc', 'aes192-cbc', 'aes256-cbc', '3des-cbc'].map(
    (cipher) => [cipher, 0] as const,
  ),
  ...['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com'].map(
    (cipher) => [cipher, 16] as const,
  ),
])

/**
 * Returns the public line of an OpenSSH private key. The public half is stored unencrypted before the private part, so
 * every cipher is supported without a passphrase. If the key has no passphrase, the public half must belong to the
 * private one.
 * Source: OpenSSH's PROTOCOL.key.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export function publicLineOfOpensshKey(block: KeyBlock): string {
  const blob = publicBlob(decodeBase64(block.body.map((line) => line.trim()).join('')))
  const type = blob && plainBlobType(blob)
  if (blob === undefined || type === undefined) {
    throw unreadableKey('the OpenSSH private key is damaged; give its .pub file')
  }

  return writeSshLine(Buffer.from(blob), type)
}

function publicBlob(container: Uint8Array | undefined): Uint8Array | undefined {
  const fields = new ByteReader(container ?? new Uint8Array())
  const magic = fields.take(MAGIC.length)
  if (magic === undefined || Buffer.from(magic).toString('latin1') !== MAGIC) return undefined

  const [cipher, derivation, options] = [fields.name(), fields.name(), fields.string()]
  const keys = fields.unsigned(4)
  const [blob, privatePart] = [fields.string(), fields.string()]
  if (options === undefined || keys !== 1 || blob === undefined || privatePart === undefined) return undefined

  const isClear = cipher === 'none' && derivation === 'none' && options.length === 0
  if (isClear) return fields.done && belongs(blob, privatePart) ? blob : undefined
  const isHidden = derivation === 'bcrypt' && isBcrypt(options) && fields.left === TAG_BYTES.get(cipher)
  return isHidden ? blob : undefined
}

/** Whether the options consist of a salt and a number of rounds. */
function isBcrypt(options: Uint8Array): boolean {
  const fields = new ByteReader(options)
  return fields.string() !== undefined && fields.take(4) !== undefined && fields.done
}

/** Whether an unencrypted private part is complete and belongs to this public key. */
function belongs(blob: Uint8Array, privatePart: Uint8Array): boolean {
  const part = new ByteReader(privatePart)
  const check = part.unsigned(4)
  const type = plainBlobType(blob)
  if (type === undefined || check === undefined || check !== part.unsigned(4)) return false

  const open = new ByteReader(blob)
  open.name()
  if (type === 'ssh-rsa' ? !rsaBelongs(open, part) : !sameBytes(part.take(blob.length), blob)) return false
  if (type !== 'ssh-rsa' && !secretBelongs(type, open, part)) return false
  return part.string() !== undefined && isPadding(part)
}

/** The private part has the numbers in another order: n, e, d, the inverse of q, p, q. */
function rsaBelongs(open: ByteReader, part: ByteReader): boolean {
  const [exponent, modulus] = [open.mpint(), open.mpint()]
  const isNamed = part.name() === 'ssh-rsa'
  if (!isNamed || !sameBytes(part.mpint(), modulus) || !sameBytes(part.mpint(), exponent)) return false

  const [, , one, other] = [part.mpint(), part.mpint(), part.mpint(), part.mpint()]
  return modulus !== undefined && one !== undefined && other !== undefined && isRsaModulus(modulus, one, other)
}

/** Checks the fields after the public ones in the private part. */
function secretBelongs(type: string, open: ByteReader, part: ByteReader): boolean {
  if (type === 'ssh-ed25519') return ed25519Belongs(open.string(), part.string())
  if (type === 'ssh-dss') return dsaBelongs(open, part.mpint())
  if (type.startsWith('sk-')) {
    return part.take(1) !== undefined && part.string() !== undefined && part.string()?.length === 0
  }

  const [curve, point, secret] = [open.name(), open.string(), part.mpint()]
  const [, name] = Object.entries(SSH_CURVES).find(([each]) => each === curve) ?? []
  return name !== undefined && secret !== undefined && sameBytes(ecPoint(name, secret), point)
}

function ed25519Belongs(open: Uint8Array | undefined, secret: Uint8Array | undefined): boolean {
  if (secret?.length !== 64 || !sameBytes(secret.subarray(32), open)) return false

  return sameBytes(ed25519PublicKey(secret.subarray(0, 32)), open)
}

function dsaBelongs(open: ByteReader, secret: Uint8Array | undefined): boolean {
  const [prime, order, base, half] = [open.mpint(), open.mpint(), open.mpint(), open.mpint()]
  if (prime === undefined || base === undefined || half === undefined || secret === undefined) return false

  return secret.length <= (order?.length ?? 0) && isDsaPublic({ prime, base, public: half, secret })
}

/** Whether the rest is the padding: the bytes 1, 2, 3 and so on. */
function isPadding(part: ByteReader): boolean {
  const padding = part.take(part.left) ?? new Uint8Array()
  return padding.length < 256 && padding.every((byte, index) => byte === index + 1)
}

/** Generates an Ed25519 key pair: an OpenSSH private key without a passphrase, and the public line. */
export function makeOpensshKey(comment: string): { readonly privateKey: string; readonly publicKey: string } {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const half = Buffer.from(x, 'base64url')
  const blob = Buffer.concat([sshString('ssh-ed25519'), sshString(half)])
  const check = randomBytes(4)
  const secret = sshString(Buffer.concat([Buffer.from(d, 'base64url'), half]))
  const part = Buffer.concat([check, check, blob, secret, sshString(comment)])
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7]).subarray(0, -part.length & 7)
  const clear = [Buffer.from(MAGIC), sshString('none'), sshString('none'), sshString(''), Buffer.of(0, 0, 0, 1)]
  const container = Buffer.concat([...clear, sshString(blob), sshString(Buffer.concat([part, padding]))])
  const lines = container.toString('base64').match(/.{1,70}/g) ?? []
  return {
    privateKey: [`-----BEGIN ${LABEL}-----`, ...lines, `-----END ${LABEL}-----`, ''].join('\n'),
    publicKey: writeSshLine(blob, 'ssh-ed25519', comment),
  }
}
