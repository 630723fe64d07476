import { isForgeError } from '../index.ts'

/** Returns why a file cannot be read, and what to do. */
export function readFailure(error: unknown): string {
  return failure(error, {
    ENOENT: 'the file does not exist; correct the path',
    EISDIR: 'it is a directory; name a file in it',
    ENOTDIR: 'a part of the path is not a directory; correct the path',
    EACCES: 'permission denied; change its permissions',
  })
}

/** Returns why a file or a folder cannot be written, and what to do. */
export function writeFailure(error: unknown): string {
  return failure(error, {
    ENOENT: 'the directory does not exist; create it, or correct the path',
    EISDIR: 'it is a directory; name a file in it',
    ENOTDIR: 'a part of the path is not a directory; correct the path',
    ENOTEMPTY: 'the folder is not empty; name a new one',
    EACCES: 'permission denied; choose another path',
    ENOSPC: 'no space is left on the device; choose another path',
  })
}

function failure(error: unknown, fixes: { readonly [code: string]: string }): string {
  const code = systemCode(error)
  return fixes[code ?? ''] ?? code ?? String(error)
}

/** Returns the code of an error of the system, such as ENOENT; undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (isForgeError(error) || !(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
