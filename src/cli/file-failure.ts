import { isForgeError } from '../index.ts'
import { CommandError } from './command.ts'

/** Returns why a file cannot be read, and what to do. */
export function readFailure(error: unknown): string {
  return failure(error, {
    ENOENT: 'the file does not exist; correct the path',
    EISDIR: 'it is a directory; name a file in it',
    ENOTDIR: 'a part of the path is not a directory; correct the path',
    EACCES: 'permission denied; change its permissions',
  })
}

/** Converts an error of the file system to the CommandError that names `--out`. Returns any other error unchanged. */
export function unwritable(out: string, error: unknown): unknown {
  if (systemCode(error) === undefined) return error
  const reason = failure(error, {
    EEXIST: 'the file exists; name a new one',
    ENOENT: 'the directory does not exist; create it, or correct the path',
    EISDIR: 'it is a directory; name a file in it',
    ENOTDIR: 'a part of the path is not a directory; correct the path',
    ENOTEMPTY: 'the folder is not empty; name a new one',
    EACCES: 'permission denied; choose another path',
    ENOSPC: 'no space is left on the device; choose another path',
  })
  return new CommandError(2, `--out ${out} cannot be written: ${reason}`)
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
