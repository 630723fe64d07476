import { unreadableKey } from './unreadable-key.ts'

/** The most bytes a key may have, 1 MiB: a key with a hundred thousand signatures on it is an attack, not a key. */
export const MAX_KEY_BYTES = 1_048_576

/** The reason for a key beyond `MAX_KEY_BYTES`. */
export const TOO_LARGE = 'it is larger than 1 MiB; give a file that holds one key and nothing else'

/** The most bytes that an SSH or PEM key may have, 64 KiB: the longest, RSA of 16,384 bits in PEM, has 13 KB. */
export const MAX_SSH_KEY_BYTES = 65_536

/** The most packets that an OpenPGP key may have: 1 MiB of the shortest signatures there are, of DSA, is about so many. */
export const MAX_PACKETS = 16_384

/** The most bits of a number in a key, as in OpenSSH and OpenSSL. */
export const MAX_NUMBER_BITS = 16_384

/** The most bits of an RSA exponent, as in OpenSSL; nearly every key has 65537, of 17 bits. */
export const MAX_EXPONENT_BITS = 64

/** The most bits of the prime of a DSA key in OpenPGP, whose signatures are slow to check; GnuPG makes 3,072. */
export const MAX_DSA_BITS = 4096

/** The reason for a key beyond these three. */
export const LARGE_NUMBER =
  'a number in it has more than 16,384 bits (of a DSA key 4,096, of an RSA exponent 64); use another key'

/** A key as it was handed in: text, or the binary form of OpenPGP. */
export type KeyMaterial =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }

const BYTE_ORDER_MARKS = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const

/**
 * Tells text from the binary form of OpenPGP, whose first bit is set, and decodes text: UTF-8, or UTF-16 with a byte
 * order mark, as PowerShell's `>` writes it. Text has neither mark nor carriage returns left.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when there is nothing, too much, or broken text
 */
export function materialFromBytes(bytes: Uint8Array): KeyMaterial {
  if (bytes.length > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)

  const mark = BYTE_ORDER_MARKS.find((each) => each.bytes.every((byte, index) => bytes[index] === byte))
  if (mark === undefined && (bytes[0] ?? 0) >= 0x80) return { kind: 'binary', bytes }
  return materialFromText(decode(bytes, mark?.encoding ?? 'utf-8'))
}

/**
 * Brings text into one form: no byte order mark, lines that end in a line feed.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when there is nothing, too much, or broken text
 */
export function materialFromText(text: string): KeyMaterial & { readonly kind: 'text' } {
  if (text.length > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)
  if (text.trim() === '') throw unreadableKey('it is empty; give a file that holds the key')
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
