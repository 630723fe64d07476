import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import sshpk from 'sshpk'
import type { PublicKey } from '../schema/records.ts'
import type { KeyMaterial } from './key-text.ts'
import { keyMaterial, unreadableKey } from './key-text.ts'
import type { KeyDescription } from './published-key.ts'
import { toPublicKey } from './published-key.ts'

type PemBlock = Extract<KeyMaterial, { form: 'block' }>

/**
 * Returns the SSH public line of a key: of a public line, an OpenSSH private key, or PEM. sshpk reads and writes the
 * formats of SSH. It never gets a private byte: OpenSSL reads PEM, and an OpenSSH key begins with its public half.
 *
 * @param beside - the content of the public file beside a private key: it has the comment, and the key if the private key
 * hides it
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function publish(
  key: Exclude<KeyMaterial, { form: 'openpgp' }>,
  beside: Uint8Array | undefined,
): Promise<PublicKey> {
  if (key.form === 'line') return publishLine(key.line)

  const line = beside && (await publicLineIn(beside).catch(() => undefined))
  if (key.label === 'ENCRYPTED PRIVATE KEY' || key.text.includes('\nProc-Type: 4,ENCRYPTED')) {
    if (line !== undefined) return publishLine(line)
    throw unreadableKey('it is a PEM private key with a passphrase, which hides its public half; give its .pub file')
  }
  const bytes = Buffer.from(key.text.split('\n').slice(1, -2).join(''), 'base64')
  const isOpenssh = key.label === 'OPENSSH PRIVATE KEY'
  const blob = isOpenssh ? opensshPublicHalf(bytes) : await pemPublicHalf(key, bytes)
  const own = `${sshReader(blob).field()} ${blob.toString('base64')}`
  return publishLine(line?.startsWith(`${own} `) ? line : own)
}

async function publicLineIn(content: Uint8Array): Promise<string | undefined> {
  const key = keyMaterial(content)
  return key.form === 'line' ? key.line : undefined
}

/** Describes the first of public lines. */
export async function describe(text: string): Promise<KeyDescription> {
  const { comment, key } = readLine(text.split('\n', 1).join(''))
  return { format: 'ssh', ...key, comment: comment || undefined, isRevoked: false }
}

/** A control character, broken text, a private key, or 32 characters in a row that may be base64: 24 bytes. */
const NO_COMMENT = /PRIVATE KEY|[^\P{Cc}\t]|\p{Cs}|\uFFFD|[A-Z0-9+/]{32}/iu

function publishLine(line: string): PublicKey {
  const { own, comment, key } = readLine(line)
  const isPlain = comment !== '' && !NO_COMMENT.test(comment)
  return toPublicKey('ssh', `${own}${isPlain ? ` ${comment}` : ''}\n`, { expiresAt: key.expires })
}

function readLine(line: string) {
  const [, type = '', base64 = '', comment = ''] = /^(\S+)[ \t]+(\S+)(.*)$/s.exec(line) ?? []
  const blob = Buffer.from(base64, 'base64')
  if (String(sshReader(blob).field()) !== type || blob.toString('base64') !== base64) throw damagedKey()
  return { own: `${type} ${base64}`, comment: comment.trim(), key: readBlob(blob) }
}

/** What a public key says of itself in its binary form. */
type SshKey = Pick<KeyDescription, 'algorithm' | 'bits' | 'fingerprint' | 'created' | 'expires'>

const SECURITY_KEY = /^sk-(?:ssh-(ed25519)|(ecdsa)-sha2-nistp256)@openssh\.com$/

/**
 * Reads a public key or a certificate. sshpk does not know keys on security keys: of those, only the lengths are checked. Of
 * others, sshpk writes what it reads, and OpenSSL accepts it: a point is on its curve.
 * Source: RFC 4253, section 6.6; OpenSSH's PROTOCOL.u2f and PROTOCOL.certkeys
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` unless the bytes are exactly one public key
 */
function readBlob(blob: Buffer): SshKey {
  try {
    const type = String(sshReader(blob).field())
    if (type.endsWith('-cert-v01@openssh.com')) {
      const certificate = sshpk.parseCertificate(`${type} ${blob.toString('base64')}`, 'openssh')
      const key = readBlob(certificate.subjectKey.toBuffer('rfc4253'))
      // OpenSSH writes 0, or a number that no date has, where there is no limit.
      const limits = [certificate.validFrom, certificate.validUntil]
      const [created, expires] = limits.map((date) => (date.getTime() > 0 ? date : undefined))
      return { ...key, algorithm: `${key.algorithm}-cert`, created, expires }
    }
    const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
    const [, ed25519, sk = ed25519] = SECURITY_KEY.exec(type) ?? []
    if (sk !== undefined && fieldsIn(blob)) return { algorithm: `${sk}-sk`, bits: 256, fingerprint }

    const key = sshpk.parseKey(blob, 'rfc4253')
    if (key instanceof sshpk.PrivateKey || !key.toBuffer('rfc4253').equals(blob)) throw damagedKey()
    createPublicKey(key.toString('pkcs8'))
    return { algorithm: key.type, bits: key.size, fingerprint }
  } catch {
    throw damagedKey() // the error may quote the key
  }
}

/** Reads the SSH wire (RFC 4251, section 5) in order: bytes, or a field with its length in 4 bytes before it. */
function sshReader(bytes: Buffer) {
  let at = 0
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw damagedKey()
    at += length
    return bytes.subarray(at - length, at)
  }
  return { take, field: () => take(take(4).readUInt32BE()), left: () => bytes.length - at }
}

function fieldsIn(bytes: Buffer): readonly Buffer[] {
  const reader = sshReader(bytes)
  const fields: Buffer[] = []
  while (reader.left() > 0) fields.push(reader.field())
  return fields
}

const MAGIC = 'openssh-key-v1\0'

/**
 * Returns the public half, which precedes the private one, unencrypted. A private half that is not encrypted must repeat
 * it. Some ciphers write a tag of 16 bytes at the end.
 * Source: OpenSSH's PROTOCOL.key
 */
function opensshPublicHalf(bytes: Buffer): Buffer {
  const reader = sshReader(bytes)
  const magic = reader.take(MAGIC.length).toString('latin1')
  const [cipher = ''] = [reader.field(), reader.field(), reader.field()].map(String) // then key derivation, its options
  const count = reader.take(4).readUInt32BE()
  const [blob, secret] = [reader.field(), reader.field()]
  const isWhole = magic === MAGIC && count === 1 && reader.left() === (/gcm|chacha20/.test(cipher) ? 16 : 0)
  if (!isWhole || (cipher === 'none' && !repeats(secret, fieldsIn(blob)))) throw damagedKey()
  return blob
}

/** Returns whether a private half begins with two check numbers and the fields of a public key, of which RSA swaps two. */
function repeats(secret: Buffer, publicFields: readonly Buffer[]): boolean {
  const reader = sshReader(secret.subarray(8))
  const repeated = publicFields.map(() => reader.field())
  return publicFields.every((field) => repeated.some((other) => other.equals(field)))
}

const PEM_LABEL = /^(?:RSA |EC )?(?:PRIVATE|PUBLIC) KEY$/
const DSA = Buffer.from('2a8648ce380401', 'hex')

/** OpenSSL reads the block, and a signature proves that both halves belong together. */
async function pemPublicHalf({ label, text }: PemBlock, der: Buffer): Promise<Buffer> {
  // OpenSSL computes the public half of a DSA key while it reads it: minutes, if the numbers are large.
  if (!PEM_LABEL.test(label) || der.includes(DSA)) throw damagedKey()
  try {
    const open = createPublicKey(text)
    if (label.includes('PRIVATE')) {
      const [hash, probe] = [open.asymmetricKeyType === 'ed25519' ? null : 'sha256', Buffer.from('probe')]
      const signature = await promisify(sign)(hash, probe, createPrivateKey(text))
      if (!verify(hash, probe, open, signature)) throw damagedKey()
    }
    return sshpk.parseKey(open.export({ type: 'spki', format: 'pem' }), 'pem').toBuffer('rfc4253')
  } catch {
    throw damagedKey()
  }
}

function damagedKey(): Error {
  return unreadableKey('the SSH key is damaged or of a kind that is not supported; give its .pub file')
}
