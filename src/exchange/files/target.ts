import { randomUUID } from 'node:crypto'
import { fsync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { need, propertyOf } from '../../schema/arguments.ts'
import { isUrl } from '../../schema/realms.ts'

/** Returns the path of a file. @throws TypeError when it is neither a text nor a `file:` URL */
export function pathOf(caller: string, path: string | URL): string {
  need((typeof path === 'string' && path !== '') || isUrl(path), caller, 'a path', 'a text or a file: URL')
  return isUrl(path) ? fileURLToPath(path) : path
}

/** Writes a file or a folder beside the target, and renames it at the end. If anything fails, the target is as it was. */
export async function writeBeside(target: string, write: (beside: string) => Promise<void>): Promise<void> {
  const beside = join(dirname(target), `.forgelet-${randomUUID()}.part`)
  try {
    await write(beside)
    await rename(beside, target)
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    throw error
  }
}

/** Writes pieces to a file as they arrive. The `writeFile` of Yarn's Plug'n'Play takes no iterable. */
export async function writePieces(path: string, pieces: AsyncIterable<Uint8Array>, flush = false): Promise<void> {
  const file = await open(path, 'w')
  try {
    for await (const piece of pieces) await file.writeFile(piece)
    if (flush) await promisify(fsync)(file.fd) // Yarn's Plug'n'Play does not implement file.sync
  } finally {
    await file.close()
  }
}

/** Returns a function for `catch` that returns a value if a file is missing, and throws any other error again. */
export function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (propertyOf(error, 'code') === 'ENOENT') return value
    throw error
  }
}
