import { once } from 'node:events'
import { open, readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import process from 'node:process'
import type { Readable } from 'node:stream'
import type { OptionRules } from '../../schema/options.ts'
import { ANY, checkOptions, FUNCTION, optional } from '../../schema/options.ts'
import { beforeAbort } from '../../schema/sync-or-async.ts'
import type { IssueSource } from '../documents/read-options.ts'
import { listSource } from '../documents/read-options.ts'
import type { UnpackOptions } from './archive.ts'
import { archiveOf, OF_SOURCES, onCopy, unpack } from './archive.ts'
import { pathOf } from './target.ts'

/** A source on disk, or standard input. */
export type OpenedSource = IssueSource & {
  /** Bytes of the file, before decompression, or of the files of a folder that may be read. Undefined for a pipe and standard input. */
  readonly size: number | undefined
  /** Removes what was unpacked of an archive. Of any other source nothing stays open. */
  close(): Promise<void>
}

/** Larger pieces cost less, and block the event loop for longer. */
const PIECE_BYTES = 256 * 1024
const OPTIONS: OptionRules<UnpackOptions> = {
  signal: ANY,
  maxUnpackedBytes: optional((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'an integer from 0'),
  onUnpack: FUNCTION,
}

/**
 * Opens a file, a folder that a forge wrote, or `-` for standard input. Nothing stays open unless the source is read. An
 * archive (tar, tar.gz or zip, by its first bytes) is unpacked into a temporary folder, until it is closed. The beginning of
 * standard input is read at once, and an archive there is copied before.
 * Source: docs/exchange.md, Files
 *
 * @throws the error of the file system, such as ENOENT; ForgeError `INVALID_DOCUMENT` for an archive that cannot be unpacked
 */
export async function openIssueSource(path: string | URL, options: UnpackOptions = {}): Promise<OpenedSource> {
  checkOptions('openIssueSource', options, OPTIONS)
  const close = async (): Promise<void> => undefined
  if (path === '-') {
    const isArchive = archiveOf(await beginningOf(process.stdin, options.signal)) !== undefined
    if (isArchive) return onCopy(process.stdin, options, (copy) => openIssueSource(copy, options))
    return { json: process.stdin, size: undefined, close }
  }

  const name = pathOf('openIssueSource', path)
  const found = await stat(name)
  if (found.isDirectory()) return { ...(await filesOf(name)), close }
  if (!found.isFile()) return { ...listSource(name, bytesOf(name)), size: undefined, close } // a pipe is read only once
  for await (const beginning of bytesOf(name)) {
    const entriesOf = archiveOf(beginning)
    if (entriesOf === undefined) break
    const { folder, close } = await unpack(entriesOf(name), found.size, options)
    const { size, folder: files } = await filesOf(folder)
    const [file, ...others] = await files.list()
    // An archive of one file is that file.
    const source =
      file !== undefined && others.length === 0 ? listSource(file, () => files.open(file)) : { folder: files }
    return { ...source, size, close }
  }
  return { ...listSource(name, () => bytesOf(name)), size: found.size, close }
}

/** Returns the first piece of a stream, and leaves it there. */
async function beginningOf(stream: Readable, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const ready = stream.readableEnded ? Promise.resolve() : once(stream, 'readable')
  await (signal === undefined ? ready : beforeAbort<unknown>(signal, ready))
  const piece: unknown = stream.read()
  if (!(piece instanceof Uint8Array)) return new Uint8Array()
  stream.unshift(piece)
  return piece
}

async function filesOf(root: string) {
  const names: string[] = []
  let size = 0
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue // a link could lead out of the folder
    const path = join(entry.parentPath, entry.name)
    names.push(relative(root, path).replaceAll(sep, '/'))
    if (OF_SOURCES.test(path)) size += (await stat(path)).size
  }
  const memories: Uint8Array[] = [] // an archive of GitHub has thousands of files
  return { folder: { list: () => names.sort(), open: (name: string) => bytesOf(join(root, name), memories) }, size }
}

/** The bytes of a file. All pieces are in the same memory. @param memories - those that no file uses now */
function bytesOf(path: string, memories: Uint8Array[] = []): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      const file = await open(path)
      const memory = memories.pop() ?? new Uint8Array(PIECE_BYTES)
      try {
        for (;;) {
          const { bytesRead } = await file.read(memory, 0, PIECE_BYTES)
          if (bytesRead === 0) return
          yield memory.subarray(0, bytesRead)
        }
      } finally {
        memories.push(memory)
        await file.close()
      }
    },
  }
}
