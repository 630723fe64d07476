import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { ForgeLimits } from 'forgelet'
import { isForgeError } from 'forgelet'
import type { Fixture } from '../standalone/standalone.ts'
import { parseFixture } from '../standalone/standalone.ts'
import type { ExitCode } from './command.ts'
import { CommandError, counted } from './command.ts'

/**
 * Reads a file of JSON, if its name ends in `.json`, or of YAML, of which JSON is a part. The messages do not quote it: it may contain a token.
 *
 * @param what - what the file is, for messages
 * @param missing - the exit code if it cannot be read
 * @throws CommandError (invalid input) if it can be read and is not valid, for example if it has a key twice
 */
export async function readDataFile(what: string, file: string, missing: ExitCode): Promise<unknown> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new CommandError(missing, `${what} ${file} cannot be read: ${failureOf(error)}`)
  })
  const text = new TextDecoder().decode(bytes)
  if (!isUtf8(bytes)) throw new CommandError(1, `${what} ${file} is not valid: expected UTF-8${placeOfFault(text)}`)
  if (/\.json$/i.test(file)) {
    const fault = await faultOfJson(text)
    if (fault !== undefined) throw new CommandError(1, `${what} ${file} is not valid: expected JSON${fault}`)
  }
  const { load, YAMLException } = await import('js-yaml')
  try {
    return load(text)
  } catch (error) {
    const { reason, mark } = error instanceof YAMLException ? error : { reason: 'wrong syntax', mark: undefined }
    const shown = /[:"'<]/.test(reason) ? 'wrong syntax' : reason
    const position = mark === undefined ? '' : ` (${mark.line + 1}:${mark.column + 1})`
    throw new CommandError(1, `${what} ${file} is not valid: ${shown}${position}`)
  }
}

/** Returns the line and the column of the first byte that is not UTF-8, which is decoded as U+FFFD. */
function placeOfFault(text: string): string {
  const lines = text.split('\ufffd', 1).join('').split('\n')
  return ` (${lines.length}:${(lines.at(-1) ?? '').length + 1})`
}

/** Returns where a text is not JSON; undefined if it is JSON. */
async function faultOfJson(text: string): Promise<string | undefined> {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    // A parser that is slower by ten times, and needs much memory, knows the place of the fault.
    const { parse } = await import('@humanwhocodes/momoa')
    try {
      parse(text, { mode: 'json' })
      return '' // it accepts control characters
    } catch (error) {
      return error instanceof Error && 'line' in error && 'column' in error ? ` (${error.line}:${error.column})` : ''
    }
  }
}

/**
 * Reads and validates a fixture. Its signing key is returned apart, as it is opened before the database: the path of the
 * file, which is relative to the fixture file.
 * @throws CommandError (invalid input) that names the file and every mistake
 */
export async function readFixture(
  file: string,
  limits: ForgeLimits,
): Promise<{ readonly fixture: Fixture; readonly keys: readonly string[] }> {
  const value = await readDataFile('fixture', file, 1)
  try {
    const { signingKey, ...fixture } = parseFixture(value, limits)
    return { fixture, keys: signingKey === undefined ? [] : [resolve(dirname(file), signingKey.file)] }
  } catch (error) {
    if (!isForgeError(error, 'INVALID_INPUT')) throw error
    const { violations } = error.details
    throw new CommandError(1, `fixture ${file} has ${counted(violations.length, 'mistake')}`, violations)
  }
}

/** Returns why a file or a stream cannot be read or written, and what to do. */
export function failureOf(error: unknown): string {
  const code = systemCode(error)
  return code === 'ENOENT'
    ? 'the file does not exist; correct the path'
    : (FAILURES[code ?? ''] ?? code ?? String(error))
}

/**
 * Converts an error of the file system to the CommandError that names what cannot be written, such as `--out`. Returns any
 * other error unchanged.
 */
export function unwritable(what: string, error: unknown): unknown {
  const code = systemCode(error)
  return code === undefined ? error : new CommandError(2, `${what} cannot be written: ${FAILURES[code] ?? code}`)
}

const FAILURES: { readonly [code: string]: string | undefined } = {
  EEXIST: 'the file exists; name a new one',
  ENOENT: 'the directory does not exist; create it, or correct the path',
  EISDIR: 'it is a directory; name a file in it',
  ENOTDIR: 'a part of the path is not a directory; correct the path',
  ENOTEMPTY: 'the folder is not empty; name a new one',
  EACCES: 'permission denied; change its permissions, or name another',
  ENOSPC: 'no space is left on the device',
}

/** Returns the code of an error of the system or of a stream, such as ENOENT; undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (isForgeError(error) || !(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  // Errors of drivers have codes too, such as 23505, ER_DUP_ENTRY and SQLITE_CONSTRAINT.
  return typeof code === 'string' && /^(E[A-Z\d]+|ERR_STREAM_\w+)$/.test(code) ? code : undefined
}
