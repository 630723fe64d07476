import { fileURLToPath } from 'node:url'
import type { SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import { FileKey } from './file-key.ts'
import { keyFileAt } from './key-file.ts'
import { unreadableKey } from './unreadable-key.ts'

/**
 * Opens a signing key file: OpenPGP (armored or binary) or SSH (a `.pub` line, an OpenSSH private key, PEM), public or
 * private, told by its content; at most 1 MiB, SSH and PEM 64 KiB. Only the public half is ever given out. The file is read and parsed here
 * once; when it changes on disk, the next request gets the new key, and `format` follows. While it cannot be read, `format`
 * is what it was, and the key is `SIGNING_KEY_UNREADABLE`, without the path in the message (it is in `cause`).
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param path - a path, or a `file:` URL
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the file cannot be read or parsed; here the message names the path,
 * unless the path is a key itself
 * @throws TypeError when the path is neither a text nor a `file:` URL
 */
export async function openKeyFile(path: string | URL): Promise<SigningKeySource> {
  if (typeof path !== 'string' && !(path instanceof URL)) throw new TypeError('openKeyFile takes a path or a file: URL')

  const file = typeof path === 'string' ? path : fileURLToPath(path)
  if (file.includes('\n') || file.includes('-----BEGIN')) {
    throw unreadableKey('a key stands where its path belongs; give the path, or the key itself to sshKey or openpgpKey')
  }

  try {
    const key = new FileKey(keyFileAt(file))
    await key.publicKey()
    return key
  } catch (error) {
    if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) throw error
    throw new ForgeError('SIGNING_KEY_UNREADABLE', `${file}: ${error.message}`, undefined, { cause: error })
  }
}
