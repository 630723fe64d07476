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
  const json = text.replace(/^\uFEFF/, '')
  try {
    return yaml ? (await import('js-yaml')).load(text) : await parseJson(json)
  } catch (error) {
    const mistake = yaml ? await yamlMistake(error) : await jsonMistake(error, json)
    throw new CommandError(1, `${what} ${file} is not valid ${yaml ? 'YAML' : 'JSON'}: ${mistake}`)
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

const WRONG_SYNTAX = 'wrong syntax'

/** Returns the mistake and its line and column. A reason that quotes the file is left out: it may quote a token. */
async function yamlMistake(error: unknown): Promise<string> {
  const { YAMLException } = await import('js-yaml')
  if (!(error instanceof YAMLException)) return WRONG_SYNTAX
  const { reason, mark } = error
  const shown = /[:"'<]/.test(reason) ? WRONG_SYNTAX : reason
  return mark === undefined ? shown : `${shown} (${mark.line + 1}:${mark.column + 1})`
}

/** The message of `JSON.parse` quotes the file, so another parser finds the place. */
async function jsonMistake(error: unknown, text: string): Promise<string> {
  if (!(error instanceof SyntaxError)) return yamlMistake(error)
  const { parse } = await import('@humanwhocodes/momoa')
  try {
    parse(text)
  } catch (found) {
    const [place = ''] = /\(\d+:\d+\)$/.exec(String(found)) ?? []
    return `${WRONG_SYNTAX} ${place}`.trim()
  }
  return WRONG_SYNTAX
}
