import type { BigIntStats } from 'node:fs'
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import { refuseUnknown } from '../schema/options.ts'
import { MAX_KEY_BYTES, TOO_LARGE, unreadableKey } from './key-text.ts'
import { keyIn } from './parsed-key.ts'
import type { KeyPlace, PlaceState } from './watched-key.ts'
import { watchKey } from './watched-key.ts'

/**
 * The file at an absolute path, with the `.pub` beside it. Symbolic links are followed.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the path is itself a key, which no message and no log may repeat
 */
export function keyFileAt(path: string): KeyPlace {
  if (path.includes('\n') || path.includes('-----BEGIN')) {
    throw unreadableKey('the path is itself a key; give the path of a file, or pass the key to sshKey or openpgpKey')
  }
  return {
    name: `the key file is ${path}`,
    state: () => explained(stateOf(path)),
    async read() {
      const beside = () => contentOf(`${path}.pub`).catch(() => undefined)
      return keyIn(await explained(contentOf(path)), beside).publicKey()
    },
  }
}

async function stateOf(path: string): Promise<PlaceState> {
  const [stats, beside] = await Promise.all([statOf(path), statOf(`${path}.pub`).catch(() => undefined)])
  requireFile(stats)
  return stateIn(beside === undefined ? [stats] : [stats, beside])
}

function statOf(path: string): Promise<BigIntStats> {
  return stat(path, { bigint: true })
}

/** Checks and reads one file, whatever takes its name meanwhile; a pipe is opened without waiting for a writer. */
async function contentOf(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    requireFile(await file.stat({ bigint: true }))
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** Distinguishes one state of files from another. Times of change cannot be set back. */
export function stateIn(files: readonly (BigIntStats | undefined)[]): PlaceState {
  const stamps = files.map(
    (stats) => stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':'),
  )
  return { stamp: stamps.join(), changedAt: Math.max(...files.map((stats) => Number(stats?.ctimeMs ?? 0))) }
}

function requireFile(stats: BigIntStats): void {
  if (stats.isDirectory()) throw unreadableKey('it is a directory; give the path of the key file')
  if (stats.isSocket()) throw unreadableKey('it is a socket; give the path of an ordinary file')
  if (!stats.isFile()) throw unreadableKey('it is a pipe or a device; give the path of an ordinary file')
  if (stats.size > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'the file does not exist; check the path'],
  ['ENOTDIR', 'the file does not exist; check the path'],
  ['EACCES', 'this process may not read the file; change its permissions'],
  ['EPERM', 'this process may not read the file; change its permissions'],
  ['ENXIO', 'it is a socket; give the path of an ordinary file'],
  ['ELOOP', 'its symbolic links lead in a circle; see them with: namei FILE'],
])

async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error
    throw unreadableKey(REASONS.get(error.code) ?? 'the file cannot be read', error)
  }
}

/**
 * Opens a signing key file, public or private: OpenPGP (armored or binary) or SSH (a `.pub` line, an OpenSSH private
 * key, PEM). The content determines the format. A file may have at most 128 KiB; SSH and PEM at most 64 KiB. Only the
 * public half is ever published. A PEM private key with a passphrase hides its public half: the `.pub` file beside it is
 * used.
 *
 * This function reads and parses the file once. A request looks whether the file has changed, unless another did within the
 * last 250 ms, waits at most 200 ms for that, and gets the new key, of whichever format. While the file cannot be read, the
 * last key is served for two seconds, because the file may be in the middle of being written; then the key is
 * `SIGNING_KEY_UNREADABLE`. The path is not in the message of that error but in its `cause`. The forge's logger reports
 * when the file becomes unreadable, and when it can be read again.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param path - a path, or a `file:` URL; a relative path is resolved now
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the file cannot be read or parsed; here the message names the path,
 * unless the path is itself a key
 * @throws TypeError when the path is neither a text nor a `file:` URL
 */
export async function openKeyFile(path: string | URL): Promise<SigningKeySource>
export async function openKeyFile(path: string | URL, options?: unknown): Promise<SigningKeySource> {
  refuseUnknown('openKeyFile', options, {})
  if (typeof path !== 'string' && !(path instanceof URL)) throw new TypeError('openKeyFile takes a path or a file: URL')

  const file = typeof path === 'string' ? path : fileURLToPath(path)
  const place = keyFileAt(resolve(file))
  return opened(file, async () => {
    const state = await place.state()
    return watchKey(place, await place.read(), state)
  })
}

/** Names the place in the message of an error: whoever opens a key gave the place. */
export async function opened<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) throw error
    throw new ForgeError('SIGNING_KEY_UNREADABLE', `${place}: ${error.message}`, undefined, { cause: error })
  }
}
