import type { BigIntStats } from 'node:fs'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { MAX_KEY_BYTES, TOO_LARGE } from './key-material.ts'
import { unreadableKey } from './unreadable-key.ts'

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
export interface KeyFile {
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
export function keyFileAt(path: string): KeyFile {
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
