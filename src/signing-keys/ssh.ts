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
  if (key.form === 'line') return readable(() => publishLine(key.line))

  const line = beside && (await publicLineIn(beside).catch(() => undefined))
  if (key.label === 'ENCRYPTED PRIVATE KEY' || key.text.includes('\nProc-Type: 4,ENCRYPTED')) {
    if (line !== undefined) return readable(() => publishLine(line))
    throw unreadableKey('it is a PEM private key with a passphrase, which hides its public half; give its .pub file')
  }
  return readable(async () => {
    const bytes = Buffer.from(key.text.split('\n').slice(1, -2).join(''), 'base64')
    const isOpenssh = key.label === 'OPENSSH PRIVATE KEY'
    const blob = isOpenssh ? opensshPublicHalf(bytes) : await pemPublicHalf(key, bytes)
    const own = lineOf(blob)
    return publishLine(line?.startsWith(`${own} `) ? line : own)
  }, key.label.includes('PRIVATE'))
}

/** The error of what reads a key may quote it. */
async function readable<T>(read: () => T | Promise<T>, isPrivate = false): Promise<T> {
  try {
    return await read()
  } catch {
    const todo = isPrivate ? 'give its .pub file' : 'write it again: ssh-keygen -y -f PRIVATE_KEY > key.pub'
    throw unreadableKey(`the SSH key is damaged or of a kind that is not supported; ${todo}`)
  }
}

async function publicLineIn(content: Uint8Array): Promise<string | undefined> {
  const key = keyMaterial(content)
  return key.form === 'line' ? key.line : undefined
}

/** Describes the first of public lines. */
export async function describe(text: string): Promise<KeyDescription> {
  const { comment, key } = await readable(() => readLine(text.split('\n', 1).join('')))
  return { format: 'ssh', ...key, comment: comment || undefined, isRevoked: false }
}

/** Returns a public line as that of a signer: of a certificate, its authority, which also signs the next one. */
export function signerOf(line: string): Promise<string> {
  return readable(() => {
    const { certificate } = readLine(line)
    return certificate ? `cert-authority,namespaces="git" ${lineOf(certificate.authority)}` : `namespaces="git" ${line}`
  })
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
  if (lineOf(blob) !== `${type} ${base64}`) throw new RangeError('another type')
  const certificate = CERTIFICATE.test(type) ? readCertificate(blob, type) : undefined
  return { own: lineOf(blob), comment: comment.trim(), certificate, key: certificate?.key ?? readBlob(blob) }
}

function lineOf(blob: Buffer): string {
  const type = String(sshReader(blob).field())
  if (!/^[\w@.-]{1,64}$/.test(type)) throw new RangeError('not a type')
  return `${type} ${blob.toString('base64')}`
}

/** What a public key says of itself in its binary form. */
type SshKey = Pick<KeyDescription, 'algorithm' | 'bits' | 'fingerprint' | 'created' | 'expires'>

/** Kinds that sshpk does not know: the bits, and the length of each field before the application of a security key. */
const KINDS: Readonly<Record<string, readonly [bits: number, ...lengths: number[]]>> = {
  'sk-ssh-ed25519@openssh.com': [256, 32],
  'sk-ecdsa-sha2-nistp256@openssh.com': [256, 8, 65],
  'ssh-mldsa44-ed25519': [512, 1344],
}

/**
 * Reads a public key. Of a kind that sshpk does not know, the form is checked alone. Of others, sshpk writes what it reads, and
 * OpenSSL accepts it: a point is on its curve.
 * Source: RFC 4253, section 6.6; OpenSSH's PROTOCOL.u2f
 */
function readBlob(blob: Buffer): SshKey {
  const [type, ...fields] = fieldsIn(blob)
  const name = String(type)
  const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
  if (/^(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d+)$/.test(name)) {
    const key = sshpk.parseKey(blob, 'rfc4253')
    if (key instanceof sshpk.PrivateKey || !key.toBuffer('rfc4253').equals(blob)) throw new RangeError('another key')
    createPublicKey(key.toString('pkcs8'))
    // OpenSSH refuses shorter keys. A public exponent of RSA is short.
    if (/^[rd]sa$/.test(key.type) && (key.size < 1024 || (key.type === 'rsa' && (fields[0]?.length ?? 0) > 8))) {
      throw new RangeError('too short')
    }
    return { algorithm: key.type, bits: key.size, fingerprint }
  }
  const isToken = name.startsWith('sk-')
  const lengths = fields.slice(0, isToken ? -1 : undefined).map(({ length }) => length)
  const [bits, ...expected] = KINDS[name] ?? [8 * lengths.reduce((sum, length) => sum + length, 0), ...lengths]
  const isWhole = bits > 0 && String(lengths) === String(expected)
  if (!isWhole || (isToken && !/^[!-~]+$/.test(String(fields.at(-1))))) throw new RangeError('other fields')
  const algorithm = name.replaceAll(/^(?:sk-)?(?:ssh-)?|-sha2-nistp256|@.*/g, '')
  return { algorithm: isToken ? `${algorithm}-sk` : algorithm, bits, fingerprint }
}

/**
 * Reads a certificate. How many fields its key has, the kind of the key says: of any kind, the number with which all is read.
 * Source: OpenSSH's PROTOCOL.certkeys
 */
function readCertificate(blob: Buffer, type: string, fields = 1): { readonly authority: Buffer; readonly key: SshKey } {
  const reader = sshReader(blob)
  try {
    reader.field() // type
    reader.field() // nonce
    const key = Array.from({ length: fields }, () => reader.field())
    reader.take(12) // serial number, user or host
    reader.field() // name
    reader.field() // principals
    // OpenSSH writes 0, or a number that no date has, where there is no limit.
    const limits = [reader.take(8), reader.take(8)].map((bytes) => new Date(1000 * Number(bytes.readBigUInt64BE())))
    const [created, expires] = limits.map((date) => (date.getTime() > 0 ? date : undefined))
    const [, , , authority] = [1, 2, 3, 4, 5].map(() => reader.field()) // options, extensions, reserved; the signature
    if (authority === undefined || reader.left() > 0) throw new RangeError('other fields')
    readBlob(authority)
    const plain = type.replace(CERTIFICATE, type.startsWith('sk-') ? '@openssh.com' : '')
    const described = readBlob(Buffer.concat([Buffer.from(plain), ...key].flatMap((each) => [lengthOf(each), each])))
    return { authority, key: { ...described, algorithm: `${described.algorithm}-cert`, created, expires } }
  } catch (error) {
    if (fields === 4) throw error
    return readCertificate(blob, type, fields + 1)
  }
}

const CERTIFICATE = /-cert(?:-v01@openssh\.com)?$/

function lengthOf({ length }: Buffer): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}

/** Reads the SSH wire (RFC 4251, section 5) in order: bytes, or a field with its length in 4 bytes before it. */
function sshReader(bytes: Buffer) {
  let at = 0
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw new RangeError('cut off')
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
  if (!isWhole || (cipher === 'none' && !repeats(secret, fieldsIn(blob)))) throw new RangeError('damaged')
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
  if (!PEM_LABEL.test(label) || der.includes(DSA)) throw new RangeError('another kind')
  const open = createPublicKey(text)
  if (label.includes('PRIVATE')) {
    const [hash, probe] = [open.asymmetricKeyType === 'ed25519' ? null : 'sha256', Buffer.from('probe')]
    const signature = await promisify(sign)(hash, probe, createPrivateKey(text))
    if (!verify(hash, probe, open, signature)) throw new RangeError('other halves')
  }
  return sshpk.parseKey(open.export({ type: 'spki', format: 'pem' }), 'pem').toBuffer('rfc4253')
}
