import { ForgeError } from '../schema/errors.ts'

/**
 * The error for a signing key that cannot be read or parsed.
 *
 * @param reason - what is wrong and how to fix it, in the library's own fixed words: never a path, never a part of the
 * key
 * @param cause - the underlying error, for the log; responses do not contain it
 */
export function unreadableKey(reason: string, cause?: unknown): ForgeError<'SIGNING_KEY_UNREADABLE'> {
  const options = cause === undefined ? undefined : { cause }
  return new ForgeError('SIGNING_KEY_UNREADABLE', `the signing key cannot be read: ${reason}`, undefined, options)
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Decodes base64 (RFC 4648, section 4) strictly. Returns `undefined` if a character or the padding is wrong. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined

  return Buffer.from(text, 'base64')
}

/**
 * The heading of a private key, or a run of base64 as long as a line of one. The latter finds a key that lost its line
 * breaks when it was pasted.
 */
const KEY_MATERIAL = /PRIVATE KEY|[A-Za-z0-9+/]{60}/i

/** Whether a private key was pasted in place of a comment: into an SSH comment or an armor header. */
export function looksLikeKeyMaterial(remark: string): boolean {
  return KEY_MATERIAL.test(remark)
}

/**
 * Whether a comment may be published. It must not contain 16 consecutive characters that look like base64, which encode
 * 12 bytes.
 */
export function isPlainComment(remark: string): boolean {
  const runs = remark.match(/[A-Za-z0-9+/]{16,}/g) ?? []
  return !looksLikeKeyMaterial(remark) && !runs.some(looksLikeBase64)
}

/** Whether a run of characters mixes lower-case letters, upper-case letters and digits, or is longer than a word. */
function looksLikeBase64(run: string): boolean {
  return run.length >= 32 || (/[a-z]/.test(run) && /[A-Z]/.test(run) && /[0-9+/]/.test(run))
}

/** The maximum size of a key in bytes, 1 MiB: a key with a hundred thousand signatures is an attack. */
export const MAX_KEY_BYTES = 1_048_576

/** The reason for a key larger than `MAX_KEY_BYTES`. */
export const TOO_LARGE = 'it is larger than 1 MiB; give a file with one key and nothing else'

/**
 * The maximum size of an SSH or PEM key in bytes, 64 KiB: the longest such key, RSA of 16,384 bits in PEM, has 13 KB.
 */
export const MAX_SSH_KEY_BYTES = 65_536

/** The maximum number of packets in an OpenPGP key: about as many of the shortest signatures (DSA) fit into 1 MiB. */
export const MAX_PACKETS = 16_384

/** The maximum length of a number in a key, in bits, as in OpenSSH and OpenSSL. */
export const MAX_NUMBER_BITS = 16_384

/** The maximum length of an RSA exponent, in bits, as in OpenSSL. Nearly every key has 65537, which has 17 bits. */
export const MAX_EXPONENT_BITS = 64

/**
 * The maximum length of the prime of a DSA key in OpenPGP, in bits. Its signatures are slow to check; GnuPG creates
 * primes of 3,072 bits.
 */
export const MAX_DSA_BITS = 4096

/** The reason for a key beyond these three limits. */
export const LARGE_NUMBER =
  'a number in it has more than 16,384 bits (of a DSA key 4,096, of an RSA exponent 64); use another key'

/** A key as the caller passed it in: text, or the binary form of OpenPGP. */
export type KeyMaterial =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }

const BYTE_ORDER_MARKS = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const

/**
 * Distinguishes text from the binary form of OpenPGP, whose first bit is set, and decodes text. Text may be UTF-8, or
 * UTF-16 with a byte order mark, as PowerShell's `>` writes it. The result contains no byte order mark and no carriage
 * return.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the content is empty, too large, or invalid text
 */
export function materialFromBytes(bytes: Uint8Array): KeyMaterial {
  if (bytes.length > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)

  const mark = BYTE_ORDER_MARKS.find((each) => each.bytes.every((byte, index) => bytes[index] === byte))
  if (mark === undefined && (bytes[0] ?? 0) >= 0x80) return { kind: 'binary', bytes }
  return materialFromText(decode(bytes, mark?.encoding ?? 'utf-8'))
}

/**
 * Normalizes text: it removes the byte order mark and ends lines with a line feed.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the content is empty, too large, or invalid text
 */
export function materialFromText(text: string): KeyMaterial & { readonly kind: 'text' } {
  if (text.length > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)
  if (text.trim() === '') throw unreadableKey('it is empty; give a file that contains the key')
  if (!text.isWellFormed() || text.includes('\0')) throw unreadableKey(NOT_TEXT)

  return { kind: 'text', text: text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n') }
}

const NOT_TEXT = 'it is neither text nor a binary OpenPGP key; export the key again'

function decode(bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (cause) {
    throw unreadableKey(NOT_TEXT, cause)
  }
}

/** One `-----BEGIN …-----` block of a text: OpenPGP armor (RFC 9580, section 6.2) or PEM (RFC 7468). */
export interface KeyBlock {
  /** The label after BEGIN, for example `PGP PUBLIC KEY BLOCK`. */
  readonly label: string
  /** The lines between the first and the last line. */
  readonly body: readonly string[]
}

/** The parts of a text: its blocks, and the lines outside them without blank lines and `#` comments. */
export interface KeyParts {
  readonly blocks: readonly KeyBlock[]
  readonly outside: readonly string[]
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----[ \t]*$/
const END = /^-----END ([A-Z0-9 ]+)-----[ \t]*$/
/** OpenSSL writes the curve in a separate block before the key. */
const NO_KEY = new Set(['EC PARAMETERS', 'DSA PARAMETERS'])

/**
 * Splits a key text into its parts. Blocks that contain only parameters are left out.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when a block is cut off
 */
export function splitKeyText(text: string): KeyParts {
  const blocks: KeyBlock[] = []
  const outside: string[] = []
  const lines = text.split('\n')[Symbol.iterator]()
  for (const line of lines) {
    const label = BEGIN.exec(line)?.[1]
    if (label !== undefined) blocks.push(readBlock(label, lines))
    else if (isContent(line)) outside.push(line.trim())
  }

  return { blocks: blocks.filter((block) => !NO_KEY.has(block.label)), outside }
}

function isContent(line: string): boolean {
  return line.trim() !== '' && !line.trimStart().startsWith('#')
}

function readBlock(label: string, lines: Iterator<string>): KeyBlock {
  const body: string[] = []
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const end = END.exec(next.value)?.[1]
    if (end === label) return { label, body }
    if (end !== undefined || BEGIN.test(next.value)) break
    body.push(next.value)
  }

  throw unreadableKey('a BEGIN line has no matching END line, the key is truncated; export it again')
}
