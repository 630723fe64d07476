import { ECDH } from 'node:crypto'
import { ByteReader, bitLength } from './byte-reader.ts'
import {
  decodeBase64,
  isPlainComment,
  looksLikeKeyMaterial,
  MAX_EXPONENT_BITS,
  MAX_NUMBER_BITS,
  unreadableKey,
} from './key-text.ts'

type Check = (fields: ByteReader) => boolean

const text: Check = (fields) => fields.string() !== undefined
const uint32: Check = (fields) => fields.take(4) !== undefined
const uint64: Check = (fields) => fields.take(8) !== undefined
const octets = (length: number): Check => {
  return (fields) => fields.string()?.length === length
}
const word = (expected: string): Check => {
  return (fields) => fields.name() === expected
}
/** A positive integer in its shortest form. */
const integer = (maxBits: number): Check => {
  return (fields) => {
    const bytes = fields.mpint()
    return bytes !== undefined && bitLength(bytes) <= maxBits
  }
}
/** A string that contains only this sequence of fields, any number of times. */
const list = (...checks: readonly Check[]): Check => {
  return (fields) => {
    const content = fields.string()
    if (content === undefined) return false

    const inner = new ByteReader(content)
    while (!inner.done) if (!checks.every((check) => check(inner))) return false
    return true
  }
}

/** The curves of ECDSA keys: the name in the key, and the name in OpenSSL. */
export const SSH_CURVES = { nistp256: 'prime256v1', nistp384: 'secp384r1', nistp521: 'secp521r1' } as const

/** An uncompressed point that is on the curve (RFC 5656, section 3.1). */
const point = (curve: keyof typeof SSH_CURVES, length: number): Check => {
  return (fields) => {
    const bytes = fields.string()
    return bytes?.length === length && bytes[0] === 0x04 && isOnCurve(bytes, SSH_CURVES[curve])
  }
}

function isOnCurve(bytes: Uint8Array, curve: string): boolean {
  try {
    ECDH.convertKey(bytes, curve)
    return true
  } catch {
    return false
  }
}

const PLAIN: ReadonlyMap<string, readonly Check[]> = new Map([
  ['ssh-ed25519', [octets(32)]],
  ['ssh-rsa', [integer(MAX_EXPONENT_BITS), integer(MAX_NUMBER_BITS)]],
  ['ssh-dss', [integer(1024), integer(160), integer(1024), integer(1024)]],
  ['ecdsa-sha2-nistp256', [word('nistp256'), point('nistp256', 65)]],
  ['ecdsa-sha2-nistp384', [word('nistp384'), point('nistp384', 97)]],
  ['ecdsa-sha2-nistp521', [word('nistp521'), point('nistp521', 133)]],
  ['sk-ssh-ed25519@openssh.com', [octets(32), text]],
  ['sk-ecdsa-sha2-nistp256@openssh.com', [word('nistp256'), point('nistp256', 65), text]],
])

const authority: Check = (fields) => plainBlobType(fields.string() ?? new Uint8Array()) !== undefined
/** An algorithm and its signature. A security key adds its flags and a counter. */
const signature: Check = (fields) => {
  const inner = new ByteReader(fields.string() ?? new Uint8Array())
  return text(inner) && text(inner) && (inner.done || (inner.take(5) !== undefined && inner.done))
}

/**
 * Serial, kind, key id, principals, valid after and before, critical options, extensions, reserved, authority,
 * signature.
 */
const CERTIFICATE: readonly Check[] = [
  ...[uint64, uint32, text, list(text), uint64, uint64, list(text, text), list(text, text), octets(0)],
  ...[authority, signature],
]

const LAYOUTS: ReadonlyMap<string, readonly Check[]> = new Map([
  ...PLAIN,
  ...[...PLAIN].map(([type, fields]) => [certificateOf(type), [text, ...fields, ...CERTIFICATE]] as const),
])

function certificateOf(type: string): string {
  return `${type.replace('@openssh.com', '')}-cert-v01@openssh.com`
}

/**
 * Whether a word names a type of SSH public key: plain, on a security key (`sk-…`), or a certificate
 * (`…-cert-v01@openssh.com`).
 */
function isSshKeyType(type: string): boolean {
  return LAYOUTS.has(type)
}

/**
 * Returns the type of an SSH public key in its binary form, or `undefined` unless the bytes are exactly one public key
 * of a known type. Missing or extra bytes are refused, and so is anything private.
 * Source: RFC 4253, section 6.6; RFC 5656; RFC 8709; OpenSSH's PROTOCOL.u2f and PROTOCOL.certkeys.
 */
function sshBlobType(blob: Uint8Array): string | undefined {
  return typeIn(LAYOUTS, blob)
}

/** Like `sshBlobType`, without certificates: the types that a private key can have. */
export function plainBlobType(blob: Uint8Array): string | undefined {
  return typeIn(PLAIN, blob)
}

function typeIn(layouts: ReadonlyMap<string, readonly Check[]>, blob: Uint8Array): string | undefined {
  const fields = new ByteReader(blob)
  const type = fields.name() ?? ''
  const layout = layouts.get(type)
  const fits = layout?.every((check) => check(fields)) === true && fields.done
  return fits ? type : undefined
}

/** Writes an SSH string: its length in 4 bytes, then its bytes. */
export function sshString(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Writes a positive SSH integer. `bytes` has no leading zero bytes. */
export function sshInteger(bytes: Uint8Array): Buffer {
  return sshString((bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]))
}

const CONTROL_CHARACTER = /[^\P{Cc}\t]/u
const GAP = /[ \t]/

/** Whether a line starts like an SSH public key, with or without git's prefix `key::`. */
export function looksLikeSshLine(line: string): boolean {
  return isSshKeyType(firstWord(withoutPrefix(line))[0])
}

/**
 * Checks one SSH public key line and writes it in normal form: type, key and comment, with one newline at the end. The
 * type must equal the type inside the key. git's prefix `key::` is removed. The comment is kept unless a part of it
 * could be a part of a key.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export function readSshLine(line: string): string {
  const [type, rest] = firstWord(withoutPrefix(line).trim())
  const [encoded, comment] = firstWord(rest)
  if (encoded === '') throw unreadableKey('the SSH key line has no key after its type')
  requireCleanComment(comment)

  const blob = decodeBase64(encoded)
  if (blob === undefined || sshBlobType(blob) !== type) {
    throw unreadableKey('the SSH public key is damaged or not of the type its line begins with; copy it again')
  }
  return writeSshLine(blob, type, isPlainComment(comment) ? comment : '')
}

/** Writes an SSH public key line. An empty comment is left out. */
export function writeSshLine(blob: Buffer, type: string, comment = ''): string {
  return `${[type, blob.toString('base64'), comment].join(' ').trimEnd()}\n`
}

function requireCleanComment(comment: string): void {
  if (CONTROL_CHARACTER.test(comment)) throw unreadableKey('the comment of the SSH key contains control characters')
  if (looksLikeKeyMaterial(comment)) {
    throw unreadableKey('the SSH public key is followed by what looks like a private key; give only the public line')
  }
}

/** Splits a text at its first run of blanks into the word before and the rest after. */
function firstWord(text: string): readonly [word: string, rest: string] {
  const end = text.search(GAP)
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end).trimStart()]
}

function withoutPrefix(line: string): string {
  return line.startsWith('key::') ? line.slice('key::'.length) : line
}
