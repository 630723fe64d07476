import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CallOptions, SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../schema/sync-or-async.ts'
import { keyFormat } from './key-format.ts'
import { MAX_KEY_BYTES, materialFromBytes, TOO_LARGE, unreadableKey } from './key-text.ts'
import { LazyKey } from './lazy-key.ts'
import { openpgpPublicText } from './openpgp.ts'
import { sshPublicLine } from './ssh.ts'

/** What tells one state of a file from another without reading it. */
export interface FileState {
  /** Device, inode, size and both times of change in nanoseconds, in one text. */
  readonly stamp: string
  /** When the file last changed, by its file system's clock, in milliseconds since 1970; nobody can set it back. */
  readonly changedAt: number
}

/** A file's content, and the state it had just before it was read. */
interface FileContent extends FileState {
  readonly bytes: Uint8Array
}

/** A file that can be asked whether it changed. */
export interface KeyFileReader {
  /** For the log. */
  readonly path: string
  /** The state the file is in, without reading it. @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  state(): FileState
  /** @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  read(): FileContent
}

/**
 * The key file at a path. Symbolic links are followed. What is missing, too large, or no ordinary file is
 * `SIGNING_KEY_UNREADABLE`; a pipe or device is refused without waiting for it.
 */
export function keyFileAt(path: string): KeyFileReader {
  return {
    path,
    state: () => explained(() => stateOf(statSync(path, { bigint: true }))),
    read: () => explained(() => readFrom(path)),
  }
}

function readFrom(path: string): FileContent {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = fstatSync(file, { bigint: true })
    return { ...stateOf(stats), bytes: readAll(file, Number(stats.size)) }
  } finally {
    closeSync(file)
  }
}

function stateOf(stats: BigIntStats): FileState {
  if (stats.isDirectory()) throw unreadableKey('it is a directory; give the path of the key file')
  if (!stats.isFile()) throw unreadableKey('it is a pipe or a device; give the path of an ordinary file')
  if (stats.size > MAX_KEY_BYTES) throw unreadableKey(TOO_LARGE)

  const stamp = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':')
  return { stamp, changedAt: Number(stats.ctimeMs) }
}

/** Files of some file systems (`/proc`) say that they are empty: so at least one block is asked for. */
function readAll(file: number, size: number): Uint8Array {
  const buffer = Buffer.alloc(Math.max(size + 1, 65_536))
  let length = 0
  for (let read = -1; read !== 0 && length < buffer.length; length += read) {
    read = readSync(file, buffer, length, buffer.length - length, null)
  }

  return Uint8Array.from(buffer.subarray(0, length))
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'there is no such file; check the path'],
  ['ENOTDIR', 'there is no such file; check the path'],
  ['EACCES', 'this process may not read the file; give it the permission to'],
  ['EPERM', 'this process may not read the file; give it the permission to'],
])

function explained<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error
    throw unreadableKey(REASONS.get(error.code) ?? 'the file cannot be read', error)
  }
}

/** Coarsest time stamps of a file system in use (FAT), in milliseconds: two changes within it can look like one. */
const COARSEST_STAMP = 2000

interface Seen {
  readonly stamp: string
  /** SHA-256 of the content. */
  readonly digest: string
  /** Whether the stamp alone tells the next change from this one. */
  readonly isSettled: boolean
  readonly key: SigningKeySource
}

/**
 * A key in a file that may change. Every question looks at the file's state first (one `stat`, two microseconds, no
 * reading); only a changed file is read, and only a changed content is parsed, once, when the key is asked for.
 */
export class WatchedKeyFile implements SigningKeySource {
  readonly #file: KeyFileReader
  readonly #now: () => number
  #seen: Seen

  /**
   * @param file - the file
   * @param now - milliseconds since 1970, to compare with the file's times of change
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the file cannot be read or is no key
   */
  constructor(file: KeyFileReader, now: () => number = Date.now) {
    this.#file = file
    this.#now = now
    const content = file.read()
    this.#seen = this.#see(content, digestOf(content.bytes), sourceOf(content.bytes))
  }

  /** Follows the file; while it cannot be read, what it was last. */
  get format(): SigningKeyFormat {
    try {
      this.#look()
    } catch {
      // whoever asks for the key is told
    }
    return this.#seen.key.format
  }

  /**
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` as long as the file cannot be read or is no key; the message names no path,
   * its cause does
   */
  publicKey(options?: CallOptions): MaybePromise<PublicKey> {
    return runMaybeAsync(this.#answer(options))
  }

  *#answer(options: CallOptions | undefined): SyncOrAsync<PublicKey> {
    options?.signal?.throwIfAborted()
    try {
      this.#look()
      return yield* wait(this.#seen.key.publicKey(options))
    } catch (error) {
      throw isForgeError(error, 'SIGNING_KEY_UNREADABLE') ? namingPath(error, this.#file.path) : error
    }
  }

  #look(): void {
    const { stamp } = this.#file.state()
    if (this.#seen.isSettled && stamp === this.#seen.stamp) return

    const content = this.#file.read()
    const digest = digestOf(content.bytes)
    const { key } = this.#seen
    this.#seen = this.#see(content, digest, digest === this.#seen.digest ? key : sourceOr(key.format, content.bytes))
  }

  #see({ stamp, changedAt }: FileState, digest: string, key: SigningKeySource): Seen {
    return { stamp, digest, isSettled: this.#now() - changedAt > COARSEST_STAMP, key }
  }
}

function sourceOf(bytes: Uint8Array): SigningKeySource {
  const material = materialFromBytes(bytes)
  const format = keyFormat(material)
  return new LazyKey(format, () =>
    material.kind === 'text' && format === 'ssh' ? sshPublicLine(material.text) : openpgpPublicText(material),
  )
}

/** Content that is no key is a key too, one that cannot be read: so it is looked through once, not on every request. */
function sourceOr(format: SigningKeyFormat, bytes: Uint8Array): SigningKeySource {
  try {
    return sourceOf(bytes)
  } catch (error) {
    return {
      format,
      publicKey: () => {
        throw error
      },
    }
  }
}

function namingPath(error: Error, path: string): ForgeError<'SIGNING_KEY_UNREADABLE'> {
  const cause = new Error(`the key file is ${path}`, 'cause' in error ? { cause: error.cause } : {})
  return new ForgeError('SIGNING_KEY_UNREADABLE', error.message, undefined, { cause })
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}

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
    const key = new WatchedKeyFile(keyFileAt(file))
    await key.publicKey()
    return key
  } catch (error) {
    if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) throw error
    throw new ForgeError('SIGNING_KEY_UNREADABLE', `${file}: ${error.message}`, undefined, { cause: error })
  }
}
