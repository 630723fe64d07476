import { readFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { isForgeError } from '../index.ts'
import type { Fixture, FixtureLimits } from '../standalone/standalone.ts'
import { parseFixture } from '../standalone/standalone.ts'
import { CommandError } from './command.ts'

/**
 * Reads and validates a fixture file: JSON, or YAML if it ends in `.yaml` or `.yml`. The path of its signing key is
 * relative to the fixture file.
 * @throws CommandError (invalid input) that names the file and every mistake
 */
export async function readFixture(file: string, limits: FixtureLimits): Promise<Fixture> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(1, `fixture ${file} cannot be read: ${readFailure(error)}`)
  })
  const value = await parseText(file, text)
  const fixture = checked(file, value, limits)
  if (fixture.signingKey === undefined) return fixture

  return { ...fixture, signingKey: { file: resolve(dirname(file), fixture.signingKey.file) } }
}

async function parseText(file: string, text: string): Promise<unknown> {
  const yaml = /^\.ya?ml$/i.test(extname(file))
  try {
    return yaml ? (await import('yaml')).parse(text) : await parseJson(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new CommandError(1, `fixture ${file} is not valid ${yaml ? 'YAML' : 'JSON'}: ${withoutDrawing(message)}`)
  }
}

/**
 * Parses JSON as YAML to find duplicate keys. `JSON.parse` silently keeps the last value of a duplicate key. YAML, of
 * which JSON is a subset, reports it as an error.
 */
async function parseJson(text: string): Promise<unknown> {
  const value: unknown = JSON.parse(text)
  const { errors } = (await import('yaml')).parseDocument(text)
  const twice = errors.find((error) => error.code === 'DUPLICATE_KEY')
  if (twice !== undefined) throw twice
  return value
}

/** Returns the first line of a YAML error message. The rest is a drawing of the position. */
function withoutDrawing(message: string): string {
  return message.replace(/(at line \d+, column \d+):?\n.*/s, '$1')
}

function checked(file: string, value: unknown, limits: FixtureLimits): Fixture {
  try {
    return parseFixture(value, limits)
  } catch (error) {
    if (!isForgeError(error, 'INVALID_INPUT')) throw error

    const { violations } = error.details
    const count = violations.length === 1 ? '1 mistake' : `${violations.length} mistakes`
    throw new CommandError(1, `fixture ${file} has ${count}`, violations)
  }
}

function readFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'the file does not exist; correct the path'
  if (code === 'EISDIR') return 'it is a directory; name a file in it'
  if (code === 'EACCES') return 'permission denied; change its permissions'
  return String(code ?? error)
}
