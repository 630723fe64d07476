import { createHash, createPublicKey } from 'node:crypto'
import { unreadableKey } from './key-text.ts'

type Sshpk = typeof import('sshpk')

/** What a public SSH key says in its binary form. */
export interface SshBlob {
  /** The word at the beginning of its line. */
  readonly type: string
  /** What the type is followed by: the numbers or points of the key, and the application of a security key. */
  readonly fields: readonly Buffer[]
  /** As ssh-keygen calls it, in lower case: `rsa`, `ed25519-sk`, `ecdsa-cert`. */
  readonly algorithm: string
  readonly bits: number
  /** `SHA256:…`, of a certificate that of its key. */
  readonly fingerprint: string
  /** Of a certificate: from when it is valid. */
  readonly created: Date | undefined
  /** Of a certificate: until when it is valid. */
  readonly expires: Date | undefined
}

/** Reads the SSH wire (RFC 4251, section 5) in order. */
export class SshReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The number of bytes that were not read. */
  get left(): number {
    return this.#bytes.length - this.#at
  }

  /** @throws ForgeError `SIGNING_KEY_UNREADABLE` when the bytes run out */
  take(length: number): Buffer {
    if (length > this.left) throw damagedSshKey()
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Reads a field with its length in 4 bytes before it. */
  field(): Buffer {
    return this.take(this.take(4).readUInt32BE())
  }
}

/** Writes a field with its length before it. */
export function sshField(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

export function damagedSshKey(): Error {
  return unreadableKey('the SSH key is damaged or of a kind that is not supported; give its .pub file')
}

const TYPE = /^(sk-)?(ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp(?:256|384|521))(-cert-v01)?(@openssh\.com)?$/
const FIELDS: Readonly<Record<string, number>> = { 'ssh-ed25519': 1, 'ssh-dss': 4 }

/**
 * Reads a public key, which may be on a security key, and a certificate. sshpk and OpenSSL check the key. Of the rest, the
 * lengths are checked, because sshpk does not know security keys.
 * Source: RFC 4253, section 6.6; OpenSSH's PROTOCOL.u2f and PROTOCOL.certkeys
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` unless the bytes are exactly one public key
 */
export function readSshBlob(sshpk: Sshpk, blob: Buffer): SshBlob {
  const reader = new SshReader(blob)
  const type = reader.field().toString('latin1')
  const [, onToken = '', plain = '', certificate = '', suffix = ''] = TYPE.exec(type) ?? []
  if (plain === '' || (suffix !== '') !== (onToken + certificate !== '')) throw damagedSshKey()

  if (certificate !== '') reader.field() // the nonce
  const numbers = Array.from({ length: FIELDS[plain] ?? 2 }, () => reader.field())
  const fields = onToken === '' ? numbers : [...numbers, reader.field()]
  const validity = certificate === '' ? undefined : validityIn(reader)
  if (reader.left > 0) throw damagedSshKey()

  const { algorithm, bits } = checkedKey(sshpk, Buffer.concat([plain, ...numbers].map(sshField)))
  const key = Buffer.concat([`${onToken}${plain}${onToken && suffix}`, ...fields].map(sshField))
  const digest = createHash('sha256').update(key).digest('base64').replace(/=+$/, '')
  return {
    type,
    fields,
    algorithm: `${algorithm}${onToken && '-sk'}${certificate && '-cert'}`,
    bits,
    fingerprint: `SHA256:${digest}`,
    created: validity?.from,
    expires: validity?.until,
  }
}

/** Reads the rest of a certificate. */
function validityIn(reader: SshReader): { readonly from: Date | undefined; readonly until: Date | undefined } {
  reader.take(12) // serial, kind
  for (const _ of ['id', 'principals']) reader.field()
  const [from, until] = [reader.take(8), reader.take(8)].map((bytes) => Number(bytes.readBigUInt64BE()))
  for (const _ of ['options', 'extensions', 'reserved', 'authority', 'signature']) reader.field()
  return { from: from === 0 ? undefined : dateOf(from), until: dateOf(until) }
}

/** A time that no Date can express is no limit: OpenSSH writes the largest number for it. */
function dateOf(seconds = Number.NaN): Date | undefined {
  const date = new Date(1000 * seconds)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** Checks that the bytes are exactly one public key that OpenSSL accepts. */
function checkedKey(sshpk: Sshpk, plain: Buffer): { readonly algorithm: string; readonly bits: number } {
  try {
    const key = sshpk.parseKey(plain, 'rfc4253')
    if (key instanceof sshpk.PrivateKey || !key.toBuffer('rfc4253').equals(plain)) throw damagedSshKey()
    createPublicKey(key.toString('pkcs8')) // checks lengths, and that a point is on its curve
    return { algorithm: key.type, bits: key.size }
  } catch {
    throw damagedSshKey() // the error may quote the key
  }
}
