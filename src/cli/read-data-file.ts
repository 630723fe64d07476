import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import { readFailure } from './file-failure.ts'

/**
 * Reads a file: JSON, or YAML if its name ends in `.yaml` or `.yml`.
 *
 * @param what - what the file is, for messages
 * @param missing - the exit code if it cannot be read
 * @throws CommandError (invalid input) if it can be read and is not valid
 */
export async function readDataFile(what: string, file: string, missing: ExitCode): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(missing, `${what} ${file} cannot be read: ${readFailure(error)}`)
  })
  return parseText(what, file, text)
}

async function parseText(what: string, file: string, text: string): Promise<unknown> {
  const yaml = /^\.ya?ml$/i.test(extname(file))
  try {
    return yaml ? (await import('js-yaml')).load(text) : await parseJson(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new CommandError(1, `${what} ${file} is not valid ${yaml ? 'YAML' : 'JSON'}: ${withoutDrawing(message)}`)
  }
}

/**
 * Parses JSON as YAML too, to find duplicate keys. `JSON.parse` silently keeps the last value of a duplicate key. YAML, of
 * which JSON is a subset, reports it as an error.
 */
async function parseJson(text: string): Promise<unknown> {
  const value: unknown = JSON.parse(text)
  const { load, YAMLException } = await import('js-yaml')
  try {
    load(text)
  } catch (error) {
    if (error instanceof YAMLException && error.reason.startsWith('duplicated')) throw error
  }
  return value
}

/** Returns the first line of a YAML error message. The rest is a drawing of the position. */
function withoutDrawing(message: string): string {
  return message.replace(/\n.*/s, '')
}
