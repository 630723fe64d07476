import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import process from 'node:process'
import type { OptionRules } from '../../schema/options.ts'
import { ANY, checkOptions, FUNCTION, optional } from '../../schema/options.ts'
import { begun, piecesOf } from '../documents/byte-source.ts'
import type { IssueSource, SourceFolder } from '../documents/read-options.ts'
import { listSource } from '../documents/read-options.ts'
import type { UnpackOptions } from './archive.ts'
import { archiveOf, BEGINNING, OF_SOURCES, ONLY, onlyFile, unpack } from './archive.ts'
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
/** What macOS writes beside a file, such as `__MACOSX/._issues.json`. */
const HIDDEN = /(?:^|\/)\.[^/]*$/
/** The only JSON in a GitLab export of a project without issues. */
const EMPTY_PROJECT = /(?:^|\/)tree\/project\.json$/
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
    const [beginning, json] = await begun(piecesOf(process.stdin, { signal: options.signal }), BEGINNING)
    if (archiveOf(beginning) === undefined) return { json, size: undefined, close }
    const copy = await unpack(onlyFile(json), 0, { ...options, onUnpack: undefined })
    return openIssueSource(copy.paths.get(ONLY) ?? '', options).finally(copy.close)
  }

  const name = pathOf('openIssueSource', path)
  const found = await stat(name)
  if (found.isDirectory()) return { ...(await filesIn(name)), close }
  if (!found.isFile()) return { ...listSource(name, bytesOf(name)), size: undefined, close } // a pipe is read only once
  for await (const beginning of bytesOf(name)) {
    const entriesOf = archiveOf(beginning)
    if (entriesOf === undefined) break
    const { paths, size, close } = await unpack(entriesOf(name), found.size, options)
    const folder = folderOf(paths)
    // An archive of one file is that file, whatever a system or a packer puts beside it.
    const [file = '', ...others] = [...paths.keys()].filter((name) => OF_SOURCES.test(name) && !HIDDEN.test(name))
    const isOne = file !== '' && others.length === 0 && !EMPTY_PROJECT.test(file)
    const source = isOne ? listSource(file, () => folder.open(file)) : { folder }
    return { ...source, size, close }
  }
  return { ...listSource(name, () => bytesOf(name)), size: found.size, close }
}

async function filesIn(root: string): Promise<{ readonly folder: SourceFolder; readonly size: number }> {
  const paths = new Map<string, string>()
  let size = 0
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue // a link could lead out of the folder
    const path = join(entry.parentPath, entry.name)
    paths.set(relative(root, path).replaceAll(sep, '/'), path)
    if (OF_SOURCES.test(path)) size += (await stat(path)).size
  }
  return { folder: folderOf(paths), size }
}

/** @param paths - the path of each file by its name */
function folderOf(paths: ReadonlyMap<string, string>): SourceFolder {
  return { list: () => [...paths.keys()].sort(), open: (name) => bytesOf(paths.get(name) ?? '') }
}

/** The bytes of a file, which is opened when they are read. */
function bytesOf(path: string): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => createReadStream(path, { highWaterMark: PIECE_BYTES })[Symbol.asyncIterator](),
  }
}
