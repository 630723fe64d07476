import { dirname, resolve } from 'node:path'
import { isForgeError } from '../index.ts'
import type { Fixture, FixtureLimits } from '../standalone/standalone.ts'
import { parseFixture } from '../standalone/standalone.ts'
import { CommandError, counted } from './command.ts'
import { readDataFile } from './read-data-file.ts'

/**
 * Reads and validates a fixture file: JSON, or YAML if it ends in `.yaml` or `.yml`. The path of its signing key is
 * relative to the fixture file.
 * @throws CommandError (invalid input) that names the file and every mistake
 */
export async function readFixture(file: string, limits: FixtureLimits): Promise<Fixture> {
  const value = await readDataFile('fixture', file, 1)
  const fixture = checked(file, value, limits)
  if (fixture.signingKey === undefined) return fixture

  return { ...fixture, signingKey: { file: resolve(dirname(file), fixture.signingKey.file) } }
}

function checked(file: string, value: unknown, limits: FixtureLimits): Fixture {
  try {
    return parseFixture(value, limits)
  } catch (error) {
    if (!isForgeError(error, 'INVALID_INPUT')) throw error

    const { violations } = error.details
    throw new CommandError(1, `fixture ${file} has ${counted(violations.length, 'mistake')}`, violations)
  }
}
