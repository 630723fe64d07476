import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CallOptions, SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import { refuseUnknown } from '../schema/options.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { settle } from '../schema/sync-or-async.ts'
import { keyFormat } from './key-format.ts'
import { MAX_KEY_BYTES, materialFromBytes, TOO_LARGE, unreadableKey } from './key-text.ts'
import { LazyKey } from './lazy-key.ts'
import { openpgpPublicText } from './openpgp.ts'
import { sshPublicLine } from './ssh.ts'

/** Distinguishes one state of a file from another without reading the file. */
export interface FileState {
  /** Device, inode, size and both change times in nanoseconds, in one text. */
  readonly stamp: string
  /** When the file last changed, by the clock of its file system, in milliseconds since 1970. It cannot be set back. */
  readonly changedAt: number
}

/** The content of a file, and the state of the file just before it was read. */
interface FileContent extends FileState {
  readonly bytes: Uint8Array
}

/** A file that reports whether it has changed. */
export interface KeyFileReader {
  /** For the log. */
  readonly path: string
  /** The current state of the file, without reading it. @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  state(): FileState
  /** @throws ForgeError `SIGNING_KEY_UNREADABLE` */
  read(): FileContent
}

/**
 * The key file at a path. Symbolic links are followed. A file that is missing, too large or not a regular file is
 * `SIGNING_KEY_UNREADABLE`. A pipe or device is refused without blocking.
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

/**
 * Files in some file systems (`/proc`) report a size of zero, so this function always tries to read at least one block.
 */
function readAll(file: number, size: number): Uint8Array {
  const buffer = Buffer.alloc(Math.max(size + 1, 65_536))
  let length = 0
  for (let read = -1; read !== 0 && length < buffer.length; length += read) {
    read = readSync(file, buffer, length, buffer.length - length, null)
  }

  return Uint8Array.from(buffer.subarray(0, length))
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'the file does not exist; check the path'],
  ['ENOTDIR', 'the file does not exist; check the path'],
  ['EACCES', 'this process may not read the file; change its permissions'],
  ['EPERM', 'this process may not read the file; change its permissions'],
])

function explained<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error
    throw unreadableKey(REASONS.get(error.code) ?? 'the file cannot be read', error)
  }
}

/**
 * The coarsest timestamp resolution of a file system in use (FAT), in milliseconds. Two changes within it can look like
 * one.
 */
const COARSEST_STAMP = 2000

interface Seen {
  readonly stamp: string
  /** SHA-256 of the content. */
  readonly digest: string
  /** Whether the stamp alone is enough to detect the next change. */
  readonly isSettled: boolean
  readonly key: SigningKeySource
}

/**
 * A key in a file that may change. Every call first checks the state of the file, with one `stat` (two microseconds)
 * and without reading it. The file is read only if its state has changed. Its content is parsed only if it has changed,
 * once, when a caller asks for the key.
 */
export class WatchedKeyFile implements SigningKeySource {
  readonly #file: KeyFileReader
  readonly #now: () => number
  #seen: Seen

  /**
   * @param file - the file
   * @param now - the current time in milliseconds since 1970, to compare with the change times of the file
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the file cannot be read or does not contain a valid key
   */
  constructor(file: KeyFileReader, now: () => number = Date.now) {
    this.#file = file
    this.#now = now
    const content = file.read()
    this.#seen = this.#see(content, digestOf(content.bytes), sourceOf(content.bytes))
  }

  /** The format of the key now in the file. While the file cannot be read, the last known format. */
  get format(): SigningKeyFormat {
    try {
      this.#look()
    } catch {
      // Ignored here: publicKey() reports it.
    }
    return this.#seen.key.format
  }

  /**
   * @throws ForgeError `SIGNING_KEY_UNREADABLE` as long as the file cannot be read or does not contain a valid key; its
   * `cause` names the path, its message does not
   */
  publicKey(options?: CallOptions): MaybePromise<PublicKey> {
    return settle(
      () => {
        options?.signal?.throwIfAborted()
        this.#look()
        return this.#seen.key.publicKey(options)
      },
      (key) => key,
      (error) => {
        throw isForgeError(error, 'SIGNING_KEY_UNREADABLE') ? namingPath(error, this.#file.path) : error
      },
    )
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

/**
 * Creates a source from the content of a file. For content that is not a valid key, the source throws that error on
 * every call, so that the content is checked once and not on every request.
 */
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
 * Opens a signing key file, public or private: OpenPGP (armored or binary) or SSH (a `.pub` line, an OpenSSH private
 * key, PEM). The content determines the format. A file may have at most 1 MiB; SSH and PEM at most 64 KiB. Only the
 * public half is ever published.
 *
 * This function reads and parses the file once. When the file changes on disk, the next request gets the new key, and
 * `format` changes with it. While the file cannot be read, `format` keeps its last value, and the key is
 * `SIGNING_KEY_UNREADABLE`. The path is not in the message of that error but in its `cause`.
 * Source: docs/behaviour.md, Signing keys.
 *
 * @param path - a path, or a `file:` URL
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when the file cannot be read or parsed; here the message names the path,
 * unless the path is itself a key
 * @throws TypeError when the path is neither a text nor a `file:` URL
 */
export async function openKeyFile(path: string | URL): Promise<SigningKeySource>
export async function openKeyFile(path: string | URL, options?: unknown): Promise<SigningKeySource> {
  refuseUnknown('openKeyFile', options, {})
  if (typeof path !== 'string' && !(path instanceof URL)) throw new TypeError('openKeyFile takes a path or a file: URL')

  const file = typeof path === 'string' ? path : fileURLToPath(path)
  if (file.includes('\n') || file.includes('-----BEGIN')) {
    throw unreadableKey('the path is itself a key; give the path, or pass the key to sshKey or openpgpKey')
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
