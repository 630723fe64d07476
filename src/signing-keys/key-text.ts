import { ForgeError } from '../schema/errors.ts'

/**
 * The error for a signing key that cannot be read or parsed.
 *
 * @param reason - what is wrong and how to fix it, in fixed words: never a path, never a part of the key
 * @param cause - the error of the file system or of a program, for the log. Never that of a parser: those quote their input
 */
export function unreadableKey(reason: string, cause?: unknown): ForgeError<'SIGNING_KEY_UNREADABLE'> {
  const options = cause === undefined ? undefined : { cause }
  return new ForgeError('SIGNING_KEY_UNREADABLE', `the signing key cannot be read: ${reason}`, undefined, options)
}

/** An OpenPGP key with 1,000 signatures has 100 KB. */
export const MAX_KEY_BYTES = 131_072
/** The longest SSH keys, RSA of 16,384 bits in PEM, have 13 KB. */
const MAX_SSH_KEY_BYTES = 65_536
export const TOO_LARGE = 'it is larger than 128 KiB; give a file with one key and nothing else'

/** One key as a file has it: OpenPGP, armored or binary; a block of OpenSSH or PEM; or a public SSH line. */
export type KeyMaterial =
  | { readonly form: 'openpgp'; readonly key: string | Uint8Array }
  | { readonly form: 'block'; readonly label: string; readonly text: string }
  | { readonly form: 'line'; readonly line: string }

/** The first line of a block that is not only the parameters which OpenSSL writes before a key; or a public SSH line. */
const KEY = /^-----BEGIN (?!EC PARAMETERS)([A-Z0-9 ]+)-----[ \t]*$|^(?:key::)?[ \t]*((?:ssh-|ecdsa-|sk-)\S+[ \t].*)$/gm

/** What is not a key file, and how to make one. */
const FOREIGN: readonly (readonly [form: RegExp, reason: string])[] = [
  [/^\s*$/, 'it is empty; give a file that contains the key'],
  [/^PuTTY-User-Key-File-/, 'it is a PuTTY key (.ppk); convert it: puttygen FILE -O public-openssh -o key.pub'],
  [/^---- BEGIN SSH2 /m, 'it is an SSH key in the form of RFC 4716; convert it: ssh-keygen -i -f FILE > key.pub'],
  [/^.{8}KBXf/s, 'it is a keybox of GnuPG (pubring.kbx); export the key: gpg --export --armor KEYID > key.asc'],
  [
    /^(?!#|key::[ \t]).*\S[ \t]+(?:ssh-|ecdsa-|sk-)\S+[ \t]+AAAA/m,
    "its lines have something before the key, as in authorized_keys or known_hosts; give one key alone: grep -oE '(ssh|ecdsa|sk)-[^ ]+ AAAA.*' FILE | head -n 1 > key.pub",
  ],
]

/**
 * Finds the key in the content of a file. What else the file says is ignored.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` unless there is exactly one key: of several, one may be private
 */
export function keyMaterial(content: string | Uint8Array): KeyMaterial {
  if (content.length > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)
  const decoded = typeof content === 'string' ? content : textOf(content)
  if (decoded === undefined) return { form: 'openpgp', key: content }

  const text = decoded.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const [, foreign] = FOREIGN.find(([form]) => form.test(text)) ?? []
  if (foreign !== undefined) throw unreadableKey(foreign)
  const [key, ...others] = text.matchAll(KEY)
  if (key === undefined) {
    throw unreadableKey('it is neither an OpenPGP nor an SSH key; give an exported key or a .pub file')
  }
  if (others.length > 0) throw unreadableKey('it contains more than one key; give a file with only the public key')

  const { index, 1: label = '', 2: line } = key
  const isOpenpgp = label.startsWith('PGP ')
  if (!isOpenpgp && Buffer.byteLength(text) > MAX_SSH_KEY_BYTES) {
    throw unreadableKey('an SSH or PEM key may have at most 64 KiB; give a file with one key and nothing else')
  }
  if (line !== undefined) return { form: 'line', line }

  const last = `\n-----END ${label}-----`
  const end = text.indexOf(last, index)
  if (end < 0) throw unreadableKey('its BEGIN line has no matching END line, the key is cut off; export it again')
  const block = `${text.slice(index, end)}${last}\n`
  return isOpenpgp ? { form: 'openpgp', key: block } : { form: 'block', label, text: block }
}

/**
 * Decodes a text, which may be UTF-16, as PowerShell's `>` writes it. Undefined for binary OpenPGP: its first bit is set.
 * The only texts with that bit are in UTF-8, and begin with a character beyond ASCII.
 */
function textOf(bytes: Uint8Array): string | undefined {
  const [first = 0, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: first >= 0x80 }).decode(bytes)
  } catch {
    return undefined
  }
}
