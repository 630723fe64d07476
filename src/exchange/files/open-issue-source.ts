import { open, readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import process from 'node:process'
import type { IssueSource, SourceFolder } from '../documents/read-options.ts'
import { listSource } from '../documents/read-options.ts'
import { pathOf } from './target.ts'

/** A source on disk, or standard input. */
export type OpenedSource = IssueSource & {
  /** Bytes of the file, before decompression. Undefined for a folder, a pipe and standard input. */
  readonly size: number | undefined
}

/** Larger pieces cost less, and block the event loop for longer. */
const PIECE_BYTES = 256 * 1024

/**
 * Opens a file, a folder that a forge wrote, or `-` for standard input. Nothing stays open unless the source is read.
 * Source: docs/exchange.md, Files
 *
 * @throws the error of the file system, such as ENOENT
 */
export async function openIssueSource(path: string | URL): Promise<OpenedSource> {
  if (path === '-') return { json: process.stdin, size: undefined }

  const name = pathOf('openIssueSource', path)
  const found = await stat(name)
  if (found.isDirectory()) return { folder: folderAt(name), size: undefined }
  if (!found.isFile()) return { ...listSource(name, bytesOf(name)), size: undefined } // a pipe can be read only once
  return { ...listSource(name, () => bytesOf(name)), size: found.size }
}

function folderAt(root: string): SourceFolder {
  return {
    async list() {
      const entries = await readdir(root, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile()) // a link could lead out of the folder
      return files.map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll(sep, '/')).sort()
    },
    open: (name) => bytesOf(join(root, name)),
  }
}

/** The bytes of a file. All pieces are in the same memory. */
function bytesOf(path: string): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      const file = await open(path)
      try {
        const memory = new Uint8Array(PIECE_BYTES)
        for (;;) {
          const { bytesRead } = await file.read(memory, 0, PIECE_BYTES)
          if (bytesRead === 0) return
          yield memory.subarray(0, bytesRead)
        }
      } finally {
        await file.close()
      }
    },
  }
}
