import { readFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { isForgeError } from '../index.ts'
import type { Fixture, FixtureLimits } from '../standalone/standalone.ts'
import { parseFixture } from '../standalone/standalone.ts'
import { CommandError } from './command.ts'

/**
 * Reads and checks a fixture file, JSON or (`.yaml`, `.yml`) YAML. The file of its signing key is relative to the fixture's.
 * @throws CommandError (invalid input) naming the file, with every mistake
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

/** JSON.parse keeps the last of two values of one key; as YAML, which JSON is, they are a mistake. */
async function parseJson(text: string): Promise<unknown> {
  const value: unknown = JSON.parse(text)
  const { errors } = (await import('yaml')).parseDocument(text)
  const twice = errors.find((error) => error.code === 'DUPLICATE_KEY')
  if (twice !== undefined) throw twice
  return value
}

/** What YAML's message says after its first line is a drawing of the place. */
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
  if (code === 'ENOENT') return 'there is no such file; correct the path'
  if (code === 'EISDIR') return 'it is a folder; name a file in it'
  if (code === 'EACCES') return 'reading it is not permitted; change its permissions'
  return String(code ?? error)
}
