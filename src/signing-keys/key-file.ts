import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SigningKeySource } from '../core/ports.ts'
import { propertyOf } from '../schema/arguments.ts'
import { isForgeError } from '../schema/errors.ts'
import { refuseUnknown } from '../schema/options.ts'
import { isUrl } from '../schema/realms.ts'
import { MAX_KEY_BYTES, TOO_LARGE, unreadableKey } from './key-text.ts'
import { parseKey } from './parsed-key.ts'
import type { InspectKey } from './watched-key.ts'
import { watchKey } from './watched-key.ts'

/**
 * Looks at the file at an absolute path, and at the `.pub` beside it. Symbolic links are followed.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the path is itself a key, which no message and no log may repeat
 */
export function keyFileAt(path: string): InspectKey {
  if (path.includes('\n') || path.includes('-----BEGIN')) {
    throw unreadableKey('the path is itself a key; give the path of a file, or pass the key to sshKey or openpgpKey')
  }
  return async () => {
    const [file, beside] = await Promise.all([contentOf(path), contentOf(`${path}.pub`).catch(() => undefined)])
    return { stamp: `${file.stamp} ${beside?.stamp}`, read: () => parseKey(file.bytes, beside?.bytes) }
  }
}

/**
 * Checks and reads one file, whatever takes its name meanwhile; a pipe is opened without waiting for a writer. In the stamp,
 * two changes within a tick of the clock differ by the content, and the same half of a key, written twice, by the time.
 */
async function contentOf(path: string) {
  let file: FileHandle | undefined
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (stats.isDirectory()) throw unreadableKey('it is a directory; give the path of the key file')
    if (!stats.isFile()) throw unreadableKey('it is a pipe or a device; give the path of an ordinary file')
    if (stats.size > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)
    const bytes = await file.readFile()
    return { bytes, stamp: `${stats.mtimeMs} ${createHash('sha256').update(bytes).digest('base64')}` }
  } catch (error) {
    if (isForgeError(error)) throw error
    throw unreadableKey(REASONS.get(propertyOf(error, 'code')) ?? 'the file cannot be read', error)
  } finally {
    await file?.close()
  }
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'the file does not exist; check the path'],
  ['ENOTDIR', 'the file does not exist; check the path'],
  ['EACCES', 'this process may not read the file; change its permissions'],
  ['ENXIO', 'it is a socket; give the path of an ordinary file'],
  ['ERR_ACCESS_DENIED', 'Node may not read the file; start it with: --allow-fs-read=FILE'],
  ['ELOOP', 'its symbolic links lead in a circle; see them with: namei FILE'],
])

/**
 * Opens a signing key file, public or private: OpenPGP (armored or binary) or SSH (a `.pub` line, an OpenSSH private
 * key, PEM). The content determines the format. A file may have at most 128 KiB; SSH and PEM at most 64 KiB. Only the
 * public half is ever published, with the comment of the `.pub` file beside it. A PEM private key with a passphrase hides
 * its public half: the `.pub` file is used.
 *
 * This function reads and parses the file once. A request checks whether the file has changed, unless another did within
 * the last 250 ms, and waits at most 200 ms for that. If it has, the request waits at most two seconds for the new key,
 * of whichever format, and gets it. While the file cannot be read, the last key is served for two seconds, because the
 * file may be in the middle of being written; then the key is `SIGNING_KEY_UNREADABLE`. The path is never in the message
 * of that error, only in its `cause`. The forge's logger reports when the file becomes unreadable, and when it can be
 * read again.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param path - a path, or a `file:` URL; a relative path is resolved now
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the file cannot be read or parsed
 * @throws TypeError when the path is neither a text nor a `file:` URL
 */
export async function openKeyFile(path: string | URL): Promise<SigningKeySource>
export async function openKeyFile(path: string | URL, options?: unknown): Promise<SigningKeySource> {
  refuseUnknown('openKeyFile', options, {})
  if (typeof path !== 'string' && !isUrl(path)) throw new TypeError('openKeyFile takes a path or a file: URL')

  const file = resolve(typeof path === 'string' ? path : fileURLToPath(path))
  return watchKey(`the key file is ${file}`, keyFileAt(file))
}
