import { createReadStream, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import process from 'node:process'
import { pipeline } from 'node:stream'
import { constants, createGunzip, gunzipSync } from 'node:zlib'
import { createTarDecoder } from 'modern-tar'
import type { Entry as ZipEntry } from 'yauzl'
import { isError } from '../../schema/realms.ts'
import { refusal } from '../documents/source-record.ts'
import { writePieces } from './target.ts'

/** Options of `openIssueSource`. They are for archives. */
export interface UnpackOptions {
  /** Cancels the unpacking: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
  /** Bytes that the files in an archive may have, after decompression: an integer. Default 10,000,000,000. */
  readonly maxUnpackedBytes?: number | undefined
  /** Called often, with how many bytes of the archive have been unpacked. `total` is its size. */
  readonly onUnpack?: ((progress: { readonly bytes: number; readonly total: number }) => void) | undefined
}

/** A part of an archive. It is read before the next one is asked for, or not at all. */
interface Entry {
  readonly name: string
  readonly type: string
  open(): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>
  /** Returns how many bytes of the archive have been read when so many of the entry were written. */
  position(written: number): number
}

type Entries = AsyncGenerator<Entry, void, void>

const DEFAULT_BYTES = 10_000_000_000
/** Less than the 64 KiB that Node reads by default: the process then keeps less memory after the archive is unpacked. */
const PIECE_BYTES = 16 * 1024
/** Bytes of gzip that have the first header of a tar in them, and little more: what is damaged behind it is still an archive. */
export const BEGINNING = 2048
/** Absolute, of a drive, or out of the folder. */
const LEADS_OUT = /^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i
/** The name that `zip` gives to its standard input. */
export const ONLY = '-'
/** The files that a source may consist of. Others, such as repositories of Git, are not unpacked. */
export const OF_SOURCES: RegExp = /^-$|\.(?:json|ndjson|ya?ml)(?:\.gz)?$/i

const TOO_LARGE = 'expected files in the archive that have at most maxUnpackedBytes (--max-unpacked-bytes) together:'

/** Returns what unpacks an archive that begins with these bytes. Undefined: they do not begin one. */
export function archiveOf(beginning: Uint8Array): ((path: string) => Entries) | undefined {
  const text = Buffer.from(beginning.subarray(0, BEGINNING)).toString('latin1')
  if (text.startsWith('PK\u0003\u0004') || text.startsWith('PK\u0005\u0006')) return zipEntries
  const isTar = (bytes: string): boolean => bytes.startsWith('\0ustar', 256) // behind the name of a link
  if (isTar(text)) return (path) => tarEntries(path, false)
  try {
    const first = gunzipSync(Buffer.from(text, 'latin1'), { finishFlush: constants.Z_SYNC_FLUSH })
    return isTar(first.toString('latin1')) ? (path) => tarEntries(path, true) : undefined
  } catch {
    return undefined // it is not gzip
  }
}

/** Presents bytes that can be read only once as the one file of an archive: to unpack it is to copy them into a file. */
export async function* onlyFile(bytes: AsyncIterable<Uint8Array>): Entries {
  yield { name: ONLY, type: 'file', open: () => bytes, position: () => 0 }
}

/** Files in a temporary folder. */
export interface UnpackedFiles {
  /** The path of each file by its name. Files that belong to no source are not written. */
  readonly paths: ReadonlyMap<string, string>
  /** Bytes of all files that were written. */
  readonly size: number
  /** Removes the folder. The end of the process removes it too. */
  close(): Promise<void>
}

/**
 * Unpacks an archive into a new temporary folder. If anything fails, nothing of it stays.
 *
 * @throws ForgeError `INVALID_DOCUMENT` if it is not safe, too large, encrypted, damaged or cut off; the error of the file system,
 * of `onUnpack`, or of a library that cannot be loaded
 */
export async function unpack(
  entries: Entries,
  total: number,
  { signal, maxUnpackedBytes = DEFAULT_BYTES, onUnpack }: UnpackOptions,
): Promise<UnpackedFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-archive-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const close = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true })
    process.off('exit', remove)
  }
  const paths = new Map<string, string>()
  let size = 0
  async function* piecesOf(entry: Entry): AsyncGenerator<Uint8Array, void, void> {
    let written = 0
    for await (const piece of await entry.open()) {
      signal?.throwIfAborted()
      onUnpack?.({ bytes: entry.position(written), total })
      written += piece.length
      size += piece.length
      if (size > maxUnpackedBytes) throw refusal('too_large', `${TOO_LARGE} ${maxUnpackedBytes} bytes`)
      yield piece
    }
  }
  try {
    for await (const entry of entries) {
      signal?.throwIfAborted()
      const { name, type } = entry
      if (LEADS_OUT.test(name))
        throw refusal('archive', `expected names of files in the archive's folder, and not ${name}`)
      if (type !== 'file' && type !== 'directory')
        throw refusal('archive', `expected files and folders; ${name} is a ${type}`)
      if (type === 'directory') continue
      const normal = posix.normalize(name)
      if (paths.has(normal)) throw refusal('archive', `expected each name once in the archive; ${name} occurs twice`)
      const path = join(folder, String(paths.size))
      paths.set(normal, path)
      if (!OF_SOURCES.test(name)) continue
      await writePieces(path, piecesOf(entry))
    }
    return { paths, size, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function* tarEntries(path: string, isCompressed: boolean): Entries {
  const file = createReadStream(path, { highWaterMark: PIECE_BYTES })
  const tar = isCompressed ? pipeline(file, createGunzip(), () => undefined) : file // the reader gets the error
  // Readable.toWeb would copy each piece.
  const bytes: ReadableStream = ReadableStream.from(tar)
  for await (const { header, body } of parsed(bytes.pipeThrough(createTarDecoder({ strict: true })))) {
    const { name, type = 'file' } = header
    yield { name, type, open: () => parsed(body), position: () => file.bytesRead }
    await body.cancel().catch(refuse)
  }
}

async function* zipEntries(path: string): Entries {
  const { default: yauzl } = await import('yauzl')
  const zip = await yauzl.openPromise(path, { decodeStrings: false }).catch(refuse)
  try {
    for await (const entry of parsed(zip.eachEntry())) {
      const { uncompressedSize: size, compressedSize, relativeOffsetOfLocalHeader: offset } = entry
      const name = yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
      const position = (written: number): number => offset + (written / (size || 1)) * compressedSize
      const open = async () => parsed(await zip.openReadStreamPromise(entry).catch(refuse))
      yield { name, type: typeOf(entry, name), open, position }
    }
  } finally {
    zip.close()
  }
}

/** Only Unix writes the type of a file into a zip. */
function typeOf(entry: ZipEntry, name: string): string {
  if (name.endsWith('/')) return 'directory'
  const type = entry.versionMadeBy >>> 8 === 3 ? entry.externalFileAttributes >>> 28 : 0
  const isFile = type === 0 || type === 0o10 || (type === 0o1 && name === ONLY) // `zip` packs its standard input as a pipe
  if (!isFile) return 'link or a device'
  return entry.canDecodeFileData() ? 'file' : 'file that is encrypted, or compressed with something other than Deflate'
}

/** What the libraries say of an archive that is whole, and what to do. */
const REMEDIES: readonly (readonly [said: RegExp, expected: string])[] = [
  [
    /extra bytes at the end/,
    'nothing behind the end of the zip: write it into a file, not into a pipe that fills it up',
  ],
  [/number too large/i, 'times from 1970 on in the tar: pack it as zip, or with --format=pax of GNU tar'],
]

/** Yields what a library makes of the bytes of an archive. */
async function* parsed<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  try {
    yield* items
  } catch (error) {
    refuse(error)
  }
}

/** Throws what a library says of the bytes of an archive, or the error of the file system that kept it from them. */
function refuse(error: unknown): never {
  if (!isError(error) || 'syscall' in error) throw error
  const [, expected = `an archive that is neither damaged nor cut off: ${error.message}`] =
    REMEDIES.find(([said]) => said.test(error.message)) ?? []
  throw refusal('archive', `expected ${expected}`)
}
