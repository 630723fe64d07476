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

/** A block that is not only the parameters which OpenSSL writes before a key. */
const BEGIN = /^-----BEGIN (?!EC PARAMETERS|DSA PARAMETERS)([A-Z0-9 ]+)-----[ \t]*$/gm
const LINE = /^(?:key::)?(?:ssh-|ecdsa-|sk-)\S+[ \t]/

/** What programs write that is not a key file, and the command that makes one of it. */
const FOREIGN: readonly (readonly [form: RegExp, reason: string])[] = [
  [/^PuTTY-User-Key-File-/, 'it is a PuTTY key (.ppk); convert it: puttygen FILE -O public-openssh -o key.pub'],
  [/^---- BEGIN SSH2 /m, 'it is an SSH key in the form of RFC 4716; convert it: ssh-keygen -i -f FILE > key.pub'],
  [/^.{8}KBXf/s, 'it is a keybox of GnuPG (pubring.kbx); export the key: gpg --export --armor KEYID > key.asc'],
  [/^Key: \(|^\(\d+:/, 'it is a private key of gpg-agent; export the key: gpg --export --armor KEYID > key.asc'],
  [
    /^(?!#).*\S[ \t]+(?:ssh-|ecdsa-|sk-)[^\s"]+[ \t]+AAAA/m,
    "its lines have something before the key, as in authorized_keys or known_hosts; give one key alone: grep -oE '(ssh|ecdsa|sk)-[^ ]+ AAAA.*' FILE | head -n 1 > key.pub",
  ],
]

/**
 * Finds the key in the content of a file, or names what the file is instead.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` unless there is exactly one key: of several, one may be private
 */
export function keyMaterial(content: string | Uint8Array): KeyMaterial {
  if (content.length > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)
  if (typeof content !== 'string' && isBinary(content)) return { form: 'openpgp', key: content }

  const decoded = typeof content === 'string' ? content : new TextDecoder(encodingOf(content)).decode(content)
  const text = decoded.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const [begin, ...others] = text.matchAll(BEGIN)
  const outside = text.slice(0, begin?.index).split('\n').filter(isContent)
  const lines = outside.filter((line) => LINE.test(line))
  if (lines.length + others.length + (begin === undefined ? 0 : 1) > 1) {
    throw unreadableKey('it contains more than one key; give a file with only the public key')
  }
  if (begin !== undefined) return blockIn(text, begin)

  const [line] = lines
  if (line === undefined) throw unreadableKey(reasonFor(text))
  if (outside.length > 1) {
    throw unreadableKey('there are other lines beside the SSH public key; give only the public line')
  }
  requireSshSize(text)
  return { form: 'line', line: line.trim() }
}

function blockIn(text: string, { index, 1: label = '' }: RegExpExecArray): KeyMaterial {
  const last = `\n-----END ${label}-----`
  const end = text.indexOf(last, index)
  if (end < 0) throw unreadableKey('its BEGIN line has no matching END line, the key is cut off; export it again')
  const after = text.slice(end + last.length).split('\n')
  if (after.some((line) => LINE.test(line))) {
    throw unreadableKey('it contains more than one key; give a file with only the public key')
  }
  const block = `${text.slice(index, end)}${last}\n`
  if (label.startsWith('PGP ')) return { form: 'openpgp', key: block }
  requireSshSize(text)
  return { form: 'block', label, text: block }
}

function requireSshSize(text: string): void {
  if (Buffer.byteLength(text) <= MAX_SSH_KEY_BYTES) return
  throw unreadableKey('an SSH or PEM key may have at most 64 KiB; give a file with one key and nothing else')
}

function reasonFor(text: string): string {
  if (text.trim() === '') return 'it is empty; give a file that contains the key'
  const [, foreign] = FOREIGN.find(([form]) => form.test(text)) ?? []
  if (foreign !== undefined) return foreign
  if (/[\0\uFFFD]/.test(text)) return 'it is neither text nor a binary OpenPGP key; export the key again'
  return 'it is neither an OpenPGP nor an SSH key; give an exported key or a .pub file'
}

function isContent(line: string): boolean {
  return line.trim() !== '' && !line.trimStart().startsWith('#')
}

/** The first bit of binary OpenPGP is set. No text begins so but for a byte order mark. */
function isBinary(bytes: Uint8Array): boolean {
  return (bytes[0] ?? 0) >= 0x80 && bytes[0] !== 0xef && encodingOf(bytes) === 'utf-8'
}

/** PowerShell's `>` writes UTF-16. */
function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
