import { decodeBase64 } from './base64.ts'
import { holdsPastedKey, isPlainRemark } from './remark.ts'
import { isSshKeyType, sshBlobType } from './ssh-blob.ts'
import { unreadableKey } from './unreadable-key.ts'

const CONTROL_CHARACTER = /[^\P{Cc}\t]/u
const GAP = /[ \t]/

/** Whether a line begins as an SSH public key does, with git's `key::` before it or not. */
export function looksLikeSshLine(line: string): boolean {
  return isSshKeyType(firstWord(withoutPrefix(line))[0])
}

/**
 * Checks one SSH public key line and writes it again: type, key and comment, one newline at the end. The type word must be
 * the one inside the key. git's `key::` is taken off. The comment is kept unless a part of it could be a part of a key.
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
  return writeSshLine(blob, type, isPlainRemark(comment) ? comment : '')
}

/** Writes an SSH public key line: the comment is left out when it is empty. */
export function writeSshLine(blob: Buffer, type: string, comment = ''): string {
  return `${[type, blob.toString('base64'), comment].join(' ').trimEnd()}\n`
}

function requireCleanComment(comment: string): void {
  if (CONTROL_CHARACTER.test(comment)) throw unreadableKey('the comment of the SSH key holds control characters')
  if (holdsPastedKey(comment)) {
    throw unreadableKey('something like a private key stands behind the SSH public key; give the public line alone')
  }
}

/** The text up to the first blank, and what stands behind the blanks. */
function firstWord(text: string): readonly [word: string, rest: string] {
  const end = text.search(GAP)
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end).trimStart()]
}

function withoutPrefix(line: string): string {
  return line.startsWith('key::') ? line.slice('key::'.length) : line
}
