import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import type { KeyMaterial } from './key-text.ts'
import { keyMaterial, unreadableKey } from './key-text.ts'
import type { KeyDescription, PublishedText } from './published-key.ts'
import { damagedSshKey, readSshBlob, SshReader, sshField } from './ssh-blob.ts'

type Sshpk = typeof import('sshpk')

/** Reads the public file beside a private key, if there is one. */
export type ReadBeside = () => Promise<Uint8Array | undefined>

/**
 * Returns the SSH public line of a key: of a public line, an OpenSSH private key, or PEM. sshpk reads and writes the
 * formats of SSH. It never gets a private byte: OpenSSL reads PEM, and an OpenSSH key begins with its public half.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function publishSsh(
  key: Exclude<KeyMaterial, { form: 'openpgp' }>,
  readBeside: ReadBeside,
): Promise<PublishedText> {
  const { default: sshpk } = await import('sshpk')
  if (key.form === 'line') return publishLine(sshpk, key.line)
  if (isHidden(key)) return publishLine(sshpk, lineIn(await readBeside()))

  const bytes = Buffer.from(key.text.split('\n').slice(1, -2).join(''), 'base64')
  if (key.label !== 'OPENSSH PRIVATE KEY') return { text: `${lineOf(sshpk, await pemPublicHalf(sshpk, key, bytes))}\n` }

  const { blob, isEncrypted } = opensshPublicHalf(sshpk, bytes)
  const line = lineOf(sshpk, blob)
  const beside = isEncrypted ? await commentedLine(readBeside) : ''
  const isSameKey = beside.split(/\s+/, 2).join(' ') === line
  return isSameKey ? publishLine(sshpk, beside) : { text: `${line}\n` }
}

function lineOf(sshpk: Sshpk, blob: Buffer): string {
  return `${readSshBlob(sshpk, blob).type} ${blob.toString('base64')}`
}

/** Describes the first of public lines. */
export async function describeSsh(text: string): Promise<KeyDescription> {
  const { default: sshpk } = await import('sshpk')
  const [line = ''] = text.split('\n')
  const { blob, comment } = partsOf(line)
  const { algorithm, bits, fingerprint, created, expires } = readSshBlob(sshpk, blob)
  const named = comment === '' ? {} : { comment }
  return { format: 'ssh', algorithm, bits, fingerprint, ...named, created, expires, isRevoked: false }
}

/** A control character, broken text, a private key, or 16 characters in a row that look like base64: 12 bytes. */
const NO_COMMENT = [
  /PRIVATE KEY|[^\P{Cc}\t]|\p{Cs}|\uFFFD|[A-Z0-9+/]{32}/iu,
  /(?<![A-Za-z0-9+/])(?=[A-Za-z0-9+/]{16})(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])[A-Za-z]*[0-9+/]/,
]

function publishLine(sshpk: Sshpk, line: string): PublishedText {
  const { type, base64, blob, comment } = partsOf(line)
  const key = readSshBlob(sshpk, blob)
  if (key.type !== type || blob.toString('base64') !== base64) throw damagedSshKey()

  const isPlain = comment !== '' && !NO_COMMENT.some((form) => form.test(comment))
  return { text: `${type} ${base64}${isPlain ? ` ${comment}` : ''}\n`, expiresAt: key.expires }
}

function partsOf(line: string) {
  const [type = '', base64 = ''] = line.replace(/^key::/, '').split(/[ \t]+/, 2)
  const comment = line.slice(line.indexOf(` ${base64}`.trim(), type.length) + base64.length).trim()
  return { type, base64, blob: Buffer.from(base64, 'base64'), comment }
}

/** The public line beside a key that can do without it. */
function commentedLine(readBeside: ReadBeside): Promise<string> {
  return readBeside()
    .then(lineIn)
    .catch(() => '')
}

function lineIn(content: Uint8Array | undefined): string {
  const open = content && keyMaterial(content)
  if (open?.form === 'line') return open.line
  throw unreadableKey('it is a PEM private key with a passphrase, which hides its public half; give its .pub file')
}

const MAGIC = 'openssh-key-v1\0'
const CIPHERS_WITH_TAG = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com']

/**
 * Returns the public half, which precedes the private one, unencrypted. A private half that is not encrypted must repeat
 * it.
 * Source: OpenSSH's PROTOCOL.key
 */
function opensshPublicHalf(sshpk: Sshpk, bytes: Buffer): { readonly blob: Buffer; readonly isEncrypted: boolean } {
  const reader = new SshReader(bytes)
  const magic = reader.take(MAGIC.length).toString('latin1')
  const [cipher = ''] = [reader.field(), reader.field(), reader.field()].map(String) // then key derivation, its options
  const count = reader.take(4).readUInt32BE()
  const [blob, secret] = [reader.field(), reader.field()]
  const isWhole = magic === MAGIC && count === 1 && reader.left === (CIPHERS_WITH_TAG.includes(cipher) ? 16 : 0)
  const { algorithm, fields } = readSshBlob(sshpk, blob)
  const isEncrypted = cipher !== 'none'
  const isOwn = isEncrypted || fields.every((field) => secret.includes(sshField(field)))
  if (!isWhole || !isOwn || algorithm.endsWith('-cert')) throw damagedSshKey()
  return { blob, isEncrypted }
}

interface PemBlock {
  readonly label: string
  readonly text: string
}

function isHidden({ label, text }: PemBlock): boolean {
  return label === 'ENCRYPTED PRIVATE KEY' || text.includes('\nProc-Type: 4,ENCRYPTED')
}

const PEM_LABEL = /^(?:RSA |EC |DSA )?(?:PRIVATE|PUBLIC) KEY$/
const DSA = Buffer.from('2a8648ce380401', 'hex')

/** OpenSSL reads the block, and a signature proves that both halves belong together. */
async function pemPublicHalf(sshpk: Sshpk, { label, text }: PemBlock, der: Buffer): Promise<Buffer> {
  // OpenSSL computes the public half of a DSA key while it reads it: minutes, if the numbers are large.
  if (label.startsWith('DSA ') || der.includes(DSA)) {
    throw unreadableKey('it is a DSA key, which is not supported in PEM; give its .pub file')
  }
  try {
    if (!PEM_LABEL.test(label)) throw damagedSshKey()
    const open = createPublicKey(text)
    if (label.includes('PRIVATE')) {
      const [hash, probe] = [open.asymmetricKeyType === 'ed25519' ? null : 'sha256', Buffer.from('probe')]
      const signature = await promisify(sign)(hash, probe, createPrivateKey(text))
      if (!verify(hash, probe, open, signature)) throw damagedSshKey()
    }
    return sshpk.parseKey(open.export({ type: 'spki', format: 'pem' }), 'pem').toBuffer('rfc4253')
  } catch {
    throw unreadableKey('the PEM key is damaged or of a kind that SSH does not support; give its .pub file')
  }
}
