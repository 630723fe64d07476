import { createECDH, createPrivateKey, createPublicKey } from 'node:crypto'
import { toBigInt } from './byte-reader.ts'

// What stands beside a private key as its public half is published only when it is the public half of that key: a damaged
// length makes private bytes stand where public ones belong.

/** Whether an RSA modulus is the product of these two primes. */
export function isRsaModulus(modulus: Uint8Array, one: Uint8Array, other: Uint8Array): boolean {
  if (one.length + other.length > modulus.length + 1) return false

  return one.length > 1 && other.length > 1 && toBigInt(one) * toBigInt(other) === toBigInt(modulus)
}

/** The point that belongs to a private number on a curve, which has OpenSSL's name; undefined when the number is none. */
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

/** The Ed25519 public key of a private key of 32 bytes. */
export function ed25519PublicKey(seed: Uint8Array): Buffer {
  const key = Buffer.concat([ED25519_PKCS8, seed])
  const { x = '' } = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url')
}

/** Whether `public` is `base` to the power of `secret`, modulo `prime`: the public half of a DSA key. */
export function isDsaPublic(numbers: {
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
